package executor

import (
	"context"
	"time"

	"github.com/magpie-go/magpie/internal/xatomic"
	"github.com/magpie-go/magpie/internal/xsync"
)

// A taskContext is the context that a run's tasks are given. It is part of the Run and turns into a standard one only
// when a task asks for its Done channel or a value, so that runs of tasks that never look cost no allocation.
type taskContext struct {
	parent context.Context

	mu        xsync.Mutex // held by whoever changes what follows
	err       error       // what Err is once cancelled
	cause     error
	cancelled xatomic.Bool
	real      xatomic.Pointer[realContext]
}

type realContext struct {
	context.Context
	cancel context.CancelCauseFunc
}

// materialize returns the standard context that stands behind c. Value goes through it, so that context.Cause and
// derived contexts find the standard machinery there.
func (c *taskContext) materialize() *realContext {
	if real := c.real.Load(); real != nil {
		return real
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if real := c.real.Load(); real != nil {
		return real
	}
	parent := c.parent
	if c.cancelled.Load() && c.err == context.Canceled {
		parent = context.WithoutCancel(parent) // it may have ended since, for another reason
	}
	ctx, cancel := context.WithCancelCause(parent)
	if c.cancelled.Load() {
		cancel(c.cause)
	}
	real := &realContext{ctx, cancel}
	c.real.Store(real)
	return real
}

// cancel cancels c for the first time; later calls do nothing.
func (c *taskContext) cancel(err, cause error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cancelled.Load() {
		return
	}
	c.err, c.cause = err, cause
	c.cancelled.Store(true) // P1: publishes err
	if real := c.real.Load(); real != nil {
		real.cancel(cause)
	}
}

func (c *taskContext) Deadline() (time.Time, bool) { return c.parent.Deadline() }
func (c *taskContext) Done() <-chan struct{}       { return c.materialize().Done() }
func (c *taskContext) Value(key any) any           { return c.materialize().Value(key) }

func (c *taskContext) Err() error {
	if real := c.real.Load(); real != nil {
		return real.Err()
	}
	if c.cancelled.Load() {
		return c.err // also when the parent ends later, for another reason
	}
	return c.parent.Err()
}
