package executor

import (
	"cmp"
	"context"
	"runtime/debug"
	"runtime/pprof"
	"strconv"
	"time"

	"github.com/magpie-go/magpie/internal/xatomic"
	"github.com/magpie-go/magpie/internal/xsync"
)

// executorKey is the key under which the context of a task holds the task's executor.
type executorKey struct{}

// A taskContext is the context that tasks are given. It is part of their Run or Future. It gets a standard context
// behind it only when a task asks for its Done channel or a value, so that a context which is not asked costs no
// allocation.
//
// It ends when its owner is cancelled or ends, and at no other time, so that its error and those of derived contexts
// agree with the owner's result. The owner is told when the caller's context ends, but from another goroutine, and a
// context of the caller's own type may tell it late. Every method therefore looks at the caller's context first, and
// tells the owner what it sees.
type taskContext struct {
	owner  canceller
	parent context.Context // the caller's
	labels context.Context // labelsOf(parent)

	mu    xsync.Mutex          // held to change what follows
	err   xatomic.Plain[error] // the result of Err when over
	cause error
	state xatomic.Uint32 // contextLive, contextEnding or contextOver, and how many skips are below
	marks xatomic.Uint32 // the level, and bits of the owner, if that is a future
	real  xatomic.Pointer[realContext]
}

// Values of taskContext.state.
const (
	contextLive   = iota
	contextEnding // the standard context may have ended
	contextOver   // the taskContext has ended; err is set

	stateMask = 3 // the other bits count skips
	oneSkip   = stateMask + 1
)

// The level in taskContext.marks is how many taskContexts are above the context, modulo skipEvery. It is set before
// another thread knows of the context. The bits below it are of the owner.
const (
	oneLevel  = 1 << 8
	levelMask = (skipEvery - 1) * oneLevel
)

// A canceller is the Run or future that a taskContext belongs to.
type canceller interface {
	// cancel cancels it. err is the error of the caller's context.
	cancel(err, cause error)
	// subscribe arranges that it is cancelled when the caller's context ends, even if no method of the taskContext is
	// called. subscribe may be called after the end of what it cancels.
	subscribe()
	// noticeAbort cancels it if all work of its executor was cancelled, and it is not told of that by itself.
	noticeAbort()
	// home returns the Executor of the program that it runs on.
	home() any
	// leader returns the run that other runs follow whose caller's context is this one, or nil.
	leader() *Run
}

func (c *taskContext) Deadline() (time.Time, bool) { return c.parent.Deadline() }
func (c *taskContext) Done() <-chan struct{} {
	c.notice()
	c.owner.subscribe()
	return c.materialize().Done()
}
func (c *taskContext) Value(key any) any {
	if _, ok := key.(executorKey); ok {
		return c.owner.home()
	}
	c.notice()
	c.owner.subscribe()
	return c.materialize().Value(key)
}

func (c *taskContext) Err() error {
	c.owner.noticeAbort()
	c.notice()
	if real := c.real.Load(); real != nil {
		return real.Err() // so that no task sees the error before context.Cause returns the cause
	}
	if c.isOver() {
		return c.err.Get()
	}
	return nil
}

// follow arranges that the owner is cancelled, on another goroutine, when the caller's context ends, until stop is
// called. It panics if a method of that context does.
func (c *taskContext) follow() (stop func() bool) {
	return context.AfterFunc(c.parent, func() {
		defer c.contain()
		c.owner.cancel(cmp.Or(c.parent.Err(), context.Canceled), context.Cause(c.parent))
	})
}

// unfollow calls stop, which follow has returned. It may be user code of the context. unfollow reports whether nothing
// refers to the owner because of follow any more.
func (c *taskContext) unfollow(stop func() bool) (stopped bool) {
	defer c.contain()
	return stop()
}

// contain is deferred around calls of the caller's context on other goroutines. It recovers from a panic and cancels
// the owner with it.
func (c *taskContext) contain() {
	if v := recover(); v != nil {
		c.owner.cancel(context.Canceled, &PanicError{Value: v, Stack: debug.Stack()})
	}
}

// isLive reports whether c has not begun to end.
func (c *taskContext) isLive() bool { return c.state.Load()&stateMask == contextLive }

// isOver reports whether c has ended.
func (c *taskContext) isOver() bool { return c.state.Load()&stateMask == contextOver }

// cancel cancels c. Only the first call has an effect.
func (c *taskContext) cancel(err, cause error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.isOver() {
		return
	}
	c.err.Set(err)
	c.cause = cause
	real := c.real.Load()
	if real != nil || !c.state.CompareAndSwap(contextLive, contextOver) { // P1: publishes err
		if c.state.Add(contextEnding-contextLive) >= oneSkip {
			deepEnds.Add(1) // after the end can be seen from below, and before it can be seen otherwise
		}
		if real != nil {
			real.endWith(err, cause) // after that, too
		}
		c.state.Add(contextOver - contextEnding) // P1: publishes err
	}
	if s, ok := c.parent.(*skip); ok {
		s.mark(false)
	}
}

// renew makes c, which nothing refers to, the context of another run.
func (c *taskContext) renew() {
	c.parent, c.labels, c.cause = nil, nil, nil
	c.err.Set(nil)
	if c.state.Load() != contextLive { // a load is cheap, a store is not
		c.state.Store(contextLive)
	}
}

// ending returns the error and cause of c, or nil if c has not ended. If cancel is in progress it waits for it: a task
// may have seen the end of the standard context, which comes first. It calls no method of another context.
func (c *taskContext) ending() (err, cause error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.isOver() {
		return nil, nil
	}
	return c.err.Get(), cmp.Or(c.cause, c.err.Get())
}

// materialize returns the standard context behind c, and makes it first if there is none. Value uses it, so that
// context.Cause and derived contexts find a standard context.
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
	if c.isOver() {
		real.endWith(c.err.Get(), c.cause)
	}
	c.real.Store(real)
	return real
}

// A realContext is a standard context that has the values of another, and ends only by a call of endWith.
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

// endWith ends the context with err and cause. A CancelCauseFunc gives a context the error context.Canceled only, so
// any other error comes through the link.
func (r *realContext) endWith(err, cause error) {
	if err == context.Canceled {
		r.cancel(cause)
		return
	}
	r.link.setCause(cause)
	r.link.err = err
	r.link.end()
}

// A link is the parent of a realContext. It has the values of the caller's context, but an error of its own. The
// standard context in it has the cause. The caller's context must not be asked for it: that one may report another
// cause by then.
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

// A task has the profiler labels of the context that its run was started with. If that context has none, the task has
// the worker's own: the executor's name and the worker's number. A worker sets labels when it turns to another run, not
// at every task. A guest's tasks have the labels of its goroutine.
//
// The runtime does not tell a goroutine's labels, so a worker does not know which labels a task has set by itself. It
// therefore sets labels whenever it leaves a run. After it has run items on top of a waiting task, it restores the
// labels that the task should have: in Executor.Run those of the context that the task has passed, in other waits those
// of the task's run or future.

// labels are the profiler labels of a worker's goroutine. Owner only, plain.
type labels struct {
	set context.Context // holds the labels that the worker has set last
	own context.Context // holds the labels of a worker that runs no task; nil for an inline worker
	// apply gives the goroutine the labels of ctx, and tells the observers if any wants to know; nil for an inline
	// worker.
	apply func(ctx context.Context)
}

// labelsOf returns a context that has the labels of ctx and finds them without a search, or nil if ctx has none.
func labelsOf(ctx context.Context) context.Context {
	if c, ok := ctx.(*taskContext); ok {
		return c.labels // Value would make a standard context
	}
	labelled := false
	pprof.ForLabels(ctx, func(string, string) bool { labelled = true; return false })
	if !labelled {
		return nil
	}
	return pprof.WithLabels(ctx, pprof.LabelSet{})
}

// labelThread gives the calling goroutine, which has just begun, the worker's own labels.
func (w *Worker) labelThread() {
	labels := pprof.Labels("executor", w.core.name, "worker", strconv.Itoa(w.id))
	w.labels.own = pprof.WithLabels(context.Background(), labels)
	w.labels.apply = pprof.SetGoroutineLabels
	if labelled := w.core.attached.labelled; len(labelled) > 0 {
		w.labels.apply = func(ctx context.Context) {
			pprof.SetGoroutineLabels(ctx)
			labelled.make(w)
		}
	}
	w.setLabels(w.labels.own)
}

// labelsFor returns labels or, if that is nil, the worker's own.
func (w *Worker) labelsFor(labels context.Context) context.Context {
	if labels == nil {
		return w.labels.own
	}
	return labels
}

// setLabels gives the worker's goroutine the labels of ctx. On an inline executor it does not: the goroutine is the
// caller's, and must keep its labels.
func (w *Worker) setLabels(ctx context.Context) {
	w.labels.set = ctx
	if w.labels.apply != nil {
		w.labels.apply(ctx)
	}
}
