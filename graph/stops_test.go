package graph_test

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/magpie-go/magpie/executor"
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

// A caller begins a run, and has all acts that end it early.
type caller struct {
	script script
	clock  *atomic.Int64

	begun   chan struct{} // closed when run is set
	run     *executor.Run
	end     func() // ends the context that the run is begun with
	release func() // of what is behind that

	mu    sync.Mutex
	stops []stop
}

func newCaller(s script, clock *atomic.Int64) caller {
	return caller{script: s, clock: clock, begun: make(chan struct{})}
}

// cancelRun cancels the run from one of its tasks.
func (c *caller) cancelRun(e *entry, cause error) {
	<-c.begun
	s := stop{begin: c.clock.Add(1), err: context.Canceled, cause: cause, told: true}
	if cause == nil {
		s.cause = context.Canceled
	}
	e.halted = true
	c.run.Cancel(cause)
	c.stopped(s)
}

// meddle does the caller's act of the script.
func (c *caller) meddle() {
	for range c.script.delay {
		runtime.Gosched()
	}
	switch c.script.outside {
	case cancelsRun:
		s := stop{begin: c.clock.Add(1), err: context.Canceled, cause: errCaller, told: true, outside: true}
		c.run.Cancel(errCaller)
		c.stopped(s)
	case endsItsContext:
		c.endContext(true)
	}
}

// endContext ends the context that the run was begun with.
func (c *caller) endContext(outside bool) {
	s := stop{begin: c.clock.Add(1), err: context.Canceled, cause: context.Canceled, outside: outside}
	switch c.script.ending {
	case endCause:
		s.cause = errEnded
	case endDeadline, endSilently:
		s.err, s.cause = context.DeadlineExceeded, context.DeadlineExceeded
	}
	c.end()
	c.stopped(s)
}

func (c *caller) stopped(s stop) {
	s.end = c.clock.Add(1)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stops = append(c.stops, s)
}

// canHaveStopped reports whether one of the stops can have been the first, with err and cause.
func (c *caller) canHaveStopped(err, cause error) bool {
	return slices.ContainsFunc(c.stops, func(s stop) bool {
		// A stop that was known before another began was before it.
		late := slices.ContainsFunc(c.stops, func(other stop) bool { return other.told && other.end < s.begin })
		return err == s.err && cause == s.cause && !late
	})
}

// start begins the run. Its tasks find the history in the context, unless the model has it.
func (h *history) start(parent context.Context) {
	if h.m.log == nil {
		parent = context.WithValue(parent, historyKey{h.m}, h)
	}
	h.run = h.ex.Start(h.open(parent), h.m.g)
	close(h.begun)
}

// open makes the context to begin the run with.
func (c *caller) open(parent context.Context) context.Context {
	ctx := parent
	c.end, c.release = func() {}, func() {}
	switch c.script.ending {
	case endCancel:
		ctx, c.end = context.WithCancel(parent)
		c.release = c.end
	case endCause:
		cancellable, cancel := context.WithCancelCause(parent)
		ctx, c.end, c.release = cancellable, func() { cancel(errEnded) }, func() { cancel(nil) }
	case endDeadline, endSilently:
		// Cut off from its parent: context.Cause of a context of others' making is the parent's once that has one.
		manual := newManualContext(context.WithoutCancel(parent))
		ctx, c.end = manual, sync.OnceFunc(manual.expire)
		c.release = c.end
		if c.script.ending == endSilently {
			ctx, c.release = silentContext{manual}, func() {}
		}
	case beforeCancel:
		cancelled, cancel := context.WithCancelCause(parent)
		cancel(errEnded)
		ctx = cancelled
		c.stops = append(c.stops, stop{err: context.Canceled, cause: errEnded, told: true})
	case beforeDeadline:
		ctx, c.release = context.WithDeadlineCause(parent, time.Unix(0, 0), errEnded)
		c.stops = append(c.stops, stop{err: context.DeadlineExceeded, cause: errEnded, told: true})
	}
	return ctx
}

// A silentContext is past its deadline when the test says so, and only Err tells of it.
type silentContext struct{ *manualContext }

// AfterFunc is the method that package context calls on contexts that are not its own.
func (silentContext) AfterFunc(func()) func() bool { return func() bool { return true } }

// finish waits for the run and for the runs that its tasks began, and checks them.
func (h *history) finish(t testing.TB) {
	t.Helper()
	h.meddle()
	if h.script.exits() {
		<-h.run.Done()
	}
	err := h.run.Wait()
	h.run.Cancel(errTooLate)
	require.True(t, err == h.run.Wait(), "the result of a run is final")
	h.result = err
	h.release()
	for _, inner := range h.inner {
		if outer := inner.outer; outer != nil { // Goexit has unwound the task that waited for it
			<-inner.begun
			<-inner.run.Done()
			inner.outerErr, inner.outerCause = outer.Err(), context.Cause(outer)
		}
		inner.finish(t)
	}
	h.check(t, err)
}
