package graph_test

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A stop is an act that ends a run early, and is not a task's failure.
type stop struct {
	begin, end int64 // stamps of the run's clock before and after
	err, cause error
	told       bool // the run knew when the act was over; else it will know when a task looks or fails, or at its end
	outside    bool // not a task's act: it may come too late
}

var (
	errCancelled = errors.New("a task cancelled the run")
	errEnded     = errors.New("the caller's context was ended")
	errCaller    = errors.New("the run was cancelled by whoever began it")
	errTooLate   = errors.New("the run was cancelled after its end")
)

// cancelRun cancels the run from one of its tasks.
func (h *history) cancelRun(e *entry, cause error) {
	<-h.begun
	s := stop{begin: h.clock.Add(1), err: context.Canceled, cause: cause, told: true}
	if cause == nil {
		s.cause = context.Canceled
	}
	e.halted = true
	h.run.Cancel(cause)
	h.stopped(s)
}

// meddle does to the run what its caller is to do.
func (h *history) meddle() {
	for range h.script.delay {
		runtime.Gosched()
	}
	switch h.script.outside {
	case cancelsRun:
		s := stop{begin: h.clock.Add(1), err: context.Canceled, cause: errCaller, told: true, outside: true}
		h.run.Cancel(errCaller)
		h.stopped(s)
	case endsItsContext:
		h.endContext(true)
	}
}

// endContext ends the context that the run was begun with.
func (h *history) endContext(outside bool) {
	s := stop{begin: h.clock.Add(1), err: context.Canceled, cause: context.Canceled, outside: outside}
	switch h.script.ending {
	case endCause:
		s.cause = errEnded
	case endDeadline, endSilently:
		s.err, s.cause = context.DeadlineExceeded, context.DeadlineExceeded
	}
	h.end()
	h.stopped(s)
}

func (h *history) stopped(s stop) {
	s.end = h.clock.Add(1)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.stops = append(h.stops, s)
}

// start begins the run. Its tasks find the history in the context, unless the model has it.
func (h *history) start(parent context.Context) {
	if h.m.log == nil {
		parent = context.WithValue(parent, historyKey{h.m}, h)
	}
	ctx := parent
	end, release := func() {}, func() {}
	switch h.script.ending {
	case endCancel:
		c, cancel := context.WithCancel(parent)
		ctx, end, release = c, cancel, cancel
	case endCause:
		c, cancel := context.WithCancelCause(parent)
		ctx, end, release = c, func() { cancel(errEnded) }, func() { cancel(nil) }
	case endDeadline, endSilently:
		// Cut off from its parent: context.Cause of a context of others' making is the parent's once that has one.
		c := newManualContext(context.WithoutCancel(parent))
		ctx, end = c, sync.OnceFunc(c.expire)
		release = end
		if h.script.ending == endSilently {
			ctx, release = silentContext{c}, func() {}
		}
	case beforeCancel:
		c, cancel := context.WithCancelCause(parent)
		cancel(errEnded)
		ctx = c
		h.stops = append(h.stops, stop{err: context.Canceled, cause: errEnded, told: true})
	case beforeDeadline:
		c, cancel := context.WithDeadlineCause(parent, time.Unix(0, 0), errEnded)
		ctx, release = c, cancel
		h.stops = append(h.stops, stop{err: context.DeadlineExceeded, cause: errEnded, told: true})
	}
	h.end, h.release = end, release
	h.begun = make(chan struct{})
	h.run = h.ex.Start(ctx, h.m.g)
	close(h.begun)
}

// A silentContext is past its deadline when the test says so, and nobody hears of it who does not ask for Err.
type silentContext struct{ *manualContext }

// AfterFunc is what package context looks for in a context of others' making.
func (silentContext) AfterFunc(func()) func() bool { return func() bool { return true } }

// finish waits for the run, and those that its tasks began, and checks them.
func (h *history) finish(t testing.TB) {
	t.Helper()
	h.meddle()
	err := h.run.Wait()
	h.run.Cancel(errTooLate)
	require.True(t, err == h.run.Wait(), "the result of a run is final")
	h.result = err
	h.release()
	for _, inner := range h.inner {
		if outer := inner.outer; outer != nil { // Goexit has unwound the task that waited for it
			<-inner.begun
			_ = inner.run.Wait()
			inner.outerErr, inner.outerCause = outer.Err(), context.Cause(outer)
		}
		inner.finish(t)
	}
	h.check(t, err)
}
