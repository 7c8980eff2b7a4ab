package graph_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"testing"

	"github.com/magpie-go/magpie/graph"
	"github.com/magpie-go/magpie/internal/testkit/guests"
	"github.com/stretchr/testify/require"
)

// kind is the kind of a task's fault.
type kind uint8

const (
	fails          kind = iota
	failsCanceled       // with an error around context.Canceled, its own
	failsDeadline       // the same with context.DeadlineExceeded
	panics              // with a value
	panicsErr           // with an error
	panicsCanceled      // with context.Canceled
	panicsNil
	exits            // calls runtime.Goexit
	exitsPanicking   // and panics in a deferred function
	panicsExiting    // the other way round
	cancels          // calls Run.Cancel and returns nil
	cancelsNil       // without a cause
	cancelsFails     // and returns an error of its own
	cancelsEchoes    // and returns the context's error
	endsContext      // ends the caller's context, as the script says
	endsContextFails // and returns an error of its own
	endsContextEchoes
	nests     // runs another graph, with a fault, and returns its error
	nestsDeaf // and returns nil
	// On their own the next two are harmless.
	echoes // returns the context's error, nil if there is none
	causes // returns the context's cause
	kinds  // number of kinds
)

var kindNames = [kinds]string{"fails", "fails with Canceled", "fails with DeadlineExceeded", "panics",
	"panics with an error", "panics with Canceled", "panics with nil", "exits", "exits, panicking", "panics, exiting",
	"cancels", "cancels without a cause", "cancels and fails", "cancels and echoes", "ends the context",
	"ends the context and fails", "ends the context and echoes",
	"nests", "nests, deaf", "echoes", "echoes the cause"}

func (k kind) String() string { return kindNames[k] }

func (k kind) ends() bool { return endsContext <= k && k <= endsContextEchoes }

// stops reports whether the task itself stops the run, whatever it returns.
func (k kind) stops() bool { return cancels <= k && k <= endsContextEchoes }

func (k kind) nests() bool { return k == nests || k == nestsDeaf }

// misbehave is the part of a task that acts out its fault.
func (h *history) misbehave(ctx context.Context, e *entry) error {
	if !e.fault.kind.nests() {
		return h.caller.misbehave(ctx, e)
	}
	if err := h.nest(ctx, e); err != nil && e.fault.kind == nests {
		return h.fails(e, err)
	}
	return h.ends(e, well)
}

// misbehave acts out a fault that is no nested run.
func (c *caller) misbehave(ctx context.Context, e *entry) error {
	switch e.fault.kind {
	case cancels:
		c.cancelRun(e, errCancelled)
	case cancelsNil:
		c.cancelRun(e, nil)
	case cancelsFails:
		c.cancelRun(e, errCancelled)
		return c.fails(e, errTask)
	case cancelsEchoes:
		c.cancelRun(e, errCancelled)
		return c.fails(e, ctx.Err())
	case endsContext:
		c.endContext(false)
	case endsContextFails:
		c.endContext(false)
		return c.fails(e, errTask)
	case endsContextEchoes:
		c.endContext(false)
		return c.fails(e, ctx.Err())
	case echoes:
		return c.fails(e, ctx.Err())
	case causes:
		return c.fails(e, context.Cause(ctx))
	case fails:
		return c.fails(e, errTask)
	case failsCanceled:
		return c.fails(e, context.Canceled)
	case failsDeadline:
		return c.fails(e, context.DeadlineExceeded)
	case panics:
		return c.panics(e, e)
	case panicsErr:
		return c.panics(e, errTask)
	case panicsCanceled:
		return c.panics(e, context.Canceled)
	case panicsNil:
		return c.panics(e, nil)
	case exits:
		c.ends(e, exited)
		runtime.Goexit()
	case exitsPanicking:
		c.ends(e, panickedOrExited)
		defer explode(errTask)
		runtime.Goexit()
	case panicsExiting:
		c.ends(e, exited)
		defer runtime.Goexit()
		explode(errTask)
	}
	return c.ends(e, well)
}

// fails notes that the task is about to return an error that wraps err and is distinct from those of all other tasks.
// It returns nil if err is nil.
func (c *caller) fails(e *entry, err error) error {
	if err == nil {
		return c.ends(e, well)
	}
	e.err = fmt.Errorf("task %d: %w", e.fault.task, err)
	c.ends(e, erred)
	return e.err
}

func (c *caller) panics(e *entry, value any) error {
	e.thrown = value
	c.ends(e, panicked)
	return explode(value)
}

// ends notes how a task is about to end.
func (c *caller) ends(e *entry, f fate) error {
	e.fate = f
	e.late = e.ctx.Err() != nil
	e.end = c.clock.Add(1)
	return nil
}

// nest runs the model's other graph, with the fault's script.
func (h *history) nest(ctx context.Context, e *entry) error {
	inner := h.m.nests.newHistory(h.ex, e.fault.sub)
	inner.outer = ctx
	h.mu.Lock()
	h.inner = append(h.inner, inner)
	h.mu.Unlock()
	h.ends(e, exited) // if a task of the inner run calls Goexit on this stack
	inner.start(ctx)
	err := inner.run.Wait()
	inner.outerErr, inner.outerCause = ctx.Err(), context.Cause(ctx)
	inner.outer = nil
	return err
}

// injected returns the number of faults that took effect, or somewhat less: tasks that failed, and the act that stopped
// the run if that was no failure. Of several acts only the first stops the run. If the context of an outer run had
// ended, that is a fault of the outer run.
func (h *history) injected() (n int) {
	_, rest := parts(h.result)
	stopped := len(rest) > 0 && h.outerErr == nil
	for _, f := range h.script.faults {
		if f.kind.nests() || !h.tasks[f.task].fate.isFailure() {
			continue // faults of a nested run are counted below
		}
		n++
		if f.kind.stops() {
			stopped = false // perhaps by this task: one fault
		}
	}
	if stopped {
		n++
	}
	for _, inner := range h.inner {
		n += inner.injected()
	}
	return n
}

func TestInjected(t *testing.T) {
	guests.None(t)
	m := &model{preds: make([][]int, 3)}
	stopped := errors.Join(context.Canceled, errCancelled)
	failed := &graph.TaskError{Graph: "g", Task: "t", Err: errTask}
	for name, c := range map[string]struct {
		script script
		fates  [3]fate
		result error
		outer  error
		want   int
	}{
		"nothing went wrong":           {fates: [3]fate{well, well, well}},
		"a task failed":                {script{faults: []fault{{kind: fails}}}, [3]fate{erred}, failed, nil, 1},
		"stopped before a task failed": {script{faults: []fault{{kind: fails}}}, [3]fate{}, stopped, nil, 1},
		"two cancelled": {script{faults: []fault{{kind: cancels}, {task: 1, kind: endsContext}}},
			[3]fate{well, well}, stopped, nil, 1},
		"one cancelled after a failure": {script{faults: []fault{{kind: fails}, {task: 1, kind: cancels}}},
			[3]fate{erred, well}, failed, nil, 1},
		"one cancelled and failed": {script{faults: []fault{{kind: cancelsFails}}}, [3]fate{erred},
			errors.Join(failed, stopped), nil, 1},
		"one cancelled, another failed": {script{faults: []fault{{kind: cancels}, {task: 1, kind: panics}}},
			[3]fate{well, panicked}, errors.Join(failed, stopped), nil, 2},
		"the run outside was stopped": {script{faults: []fault{{kind: fails}}}, [3]fate{erred},
			errors.Join(failed, stopped), context.Canceled, 1},
		"it had ended before": {script{ending: beforeCancel}, [3]fate{}, stopped, nil, 1},
	} {
		h := m.newHistory(nil, c.script)
		for i, f := range c.fates {
			h.tasks[i].fate = f
		}
		h.result, h.outerErr = c.result, c.outer
		require.Equal(t, c.want, h.injected(), name)
	}
}
