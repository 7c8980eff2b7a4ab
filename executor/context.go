package executor

import (
	"cmp"
	"context"
	"runtime/debug"
	"time"

	"github.com/magpie-go/magpie/internal/xatomic"
	"github.com/magpie-go/magpie/internal/xsync"
)

// A taskContext is the context that tasks are given. It is part of their Run or Future and gets a standard one behind it
// only when a task asks for its Done channel or a value, so that those of tasks that never look cost no allocation.
//
// It ends when its owner is told to stop and at no other time, so that it, what is derived from it and the owner's result
// name the same error. The end of the caller's context tells the owner, but from another goroutine, and some contexts of
// others' making tell nobody: every method therefore looks first, and tells the owner what it sees.
type taskContext struct {
	owner  canceller
	parent context.Context // the caller's
	labels context.Context // labelsOf(parent)

	mu    xsync.Mutex          // held by whoever changes what follows
	err   xatomic.Plain[error] // what Err is once over
	cause error
	end   xatomic.Uint32 // contextLive, contextEnding, contextOver
	real  xatomic.Pointer[realContext]
}

// What taskContext.end says.
const (
	contextLive   = iota
	contextEnding // the standard context may have ended
	contextOver   // everything has; err is set
)

// A canceller is what a taskContext belongs to.
type canceller interface {
	// cancel ends what it stands for, because the caller's context said err, for that cause.
	cancel(err, cause error)
	// watch sees to it that the end of the caller's context is noticed without anybody's looking.
	watch()
}

func (c *taskContext) Deadline() (time.Time, bool) { return c.parent.Deadline() }
func (c *taskContext) Done() <-chan struct{} {
	c.notice()
	c.owner.watch()
	return c.materialize().Done()
}
func (c *taskContext) Value(key any) any {
	c.notice()
	c.owner.watch()
	return c.materialize().Value(key)
}

func (c *taskContext) Err() error {
	c.notice()
	if real := c.real.Load(); real != nil {
		return real.Err() // nobody sees the error before context.Cause knows the cause
	}
	if c.end.Load() == contextOver {
		return c.err.Get()
	}
	return nil
}

// notice tells the owner if the caller's context has ended.
func (c *taskContext) notice() {
	if c.end.Load() == contextOver || !c.mayHaveEnded() {
		return
	}
	if err := c.parent.Err(); err != nil {
		c.owner.cancel(err, context.Cause(c.parent))
	}
}

// follow has the owner told when the caller's context ends, on another goroutine, until stop is called. It panics if
// one of the context's methods does.
func (c *taskContext) follow() (stop func() bool) {
	return context.AfterFunc(c.parent, func() {
		defer c.contain()
		c.owner.cancel(cmp.Or(c.parent.Err(), context.Canceled), context.Cause(c.parent))
	})
}

// unfollow calls what follow has returned. That may be the context's own code.
func (c *taskContext) unfollow(stop func() bool) {
	defer c.contain()
	stop()
}

// contain, deferred, keeps a panic of the caller's context from ending a goroutine that is not the caller's: it ends
// the owner instead.
func (c *taskContext) contain() {
	if v := recover(); v != nil {
		c.owner.cancel(context.Canceled, &PanicError{v, debug.Stack()})
	}
}

// mayHaveEnded reports whether a context that c is in has begun to end. Thousands of our own may be nested in each other:
// asking each for its Err, which asks all above it, would cost the square of that at each level.
func (c *taskContext) mayHaveEnded() bool {
	for {
		up, ok := c.parent.(*taskContext)
		if !ok {
			return c.parent.Err() != nil
		}
		if up.end.Load() != contextLive {
			return true
		}
		c = up
	}
}

// cancel cancels c for the first time; later calls do nothing.
func (c *taskContext) cancel(err, cause error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.end.Load() == contextOver {
		return
	}
	c.err.Set(err)
	c.cause = cause
	if real := c.real.Load(); real != nil {
		c.end.Store(contextEnding) // before anybody sees its end: who has seen that may notice what it means for contexts within c
		real.end(err, cause)
	}
	c.end.Store(contextOver) // P1: publishes err
}

// ending is what c says of its end, or nil if it has not ended. It waits for an end that is just going on: the standard
// context behind c ends before c is over, and a task that has seen that may ask. It asks nobody else's context.
func (c *taskContext) ending() (err, cause error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.end.Load() != contextOver {
		return nil, nil
	}
	return c.err.Get(), cmp.Or(c.cause, c.err.Get())
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
	real := newRealContext(c.parent)
	if c.end.Load() == contextOver {
		real.end(c.err.Get(), c.cause)
	}
	c.real.Store(real)
	return real
}

// A realContext is a standard context with the values of another, that ends only when it is told to.
type realContext struct {
	context.Context
	cancel context.CancelCauseFunc
	link   link
}

func newRealContext(parent context.Context) *realContext {
	real := &realContext{}
	real.link.Context, real.link.setCause = context.WithCancelCause(context.WithoutCancel(parent))
	real.Context, real.cancel = context.WithCancelCause(&real.link)
	return real
}

// end ends the context with err, for that cause. A CancelCauseFunc can give a context any cause, but no error other than
// context.Canceled: any other comes through the link.
func (r *realContext) end(err, cause error) {
	if err == context.Canceled {
		r.cancel(cause)
		return
	}
	r.link.setCause(cause)
	r.link.err = err
	r.link.end()
}

// A link stands between a realContext and the values that it has, and takes its error from nobody. The standard context
// behind it carries the cause: asking the caller's would give what that one says by then, which may have been cancelled
// once more, above a context of others' making that has ended by itself.
type link struct {
	context.Context
	setCause context.CancelCauseFunc
	err      error
	end      func()
}

var never = make(chan struct{})

func (l *link) Done() <-chan struct{} { return never }
func (l *link) Err() error            { return l.err }

// AfterFunc is what package context calls instead of waiting for Done.
func (l *link) AfterFunc(end func()) (stop func() bool) {
	l.end = end
	return func() bool { return true }
}
