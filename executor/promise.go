package executor

import (
	"context"
	"runtime"
	"time"
)

// A Promise ends a [Future] from outside the executor: for work that goes on elsewhere, such as a request to another
// machine. It holds no worker and no goroutine. It is made by [NewPromise], and kept by those that may resolve it.
type Promise[T any] struct {
	future *Future[T]
	_      noCopy
}

// NewPromise returns a Promise whose Future ends by the first of these:
//
//   - A call of Resolve, Reject or Complete.
//   - The end of ctx, or a call of [Future.Cancel]. The error then matches ctx's error, or [context.Canceled], and the
//     cause.
//   - An [Executor.Shutdown] that cancels all work.
//   - The Promise becomes unreachable. Some time later the garbage collector ends the Future with [ErrForgotten], but
//     not on an executor of [NewInline]. A function that waits for the Future and refers to the Promise keeps it
//     reachable.
//
// A Promise is no work of the executor: it does not count against [Config.MaxRuns], Close does not wait for it, and it
// may be resolved after Close. A future that comes after it is work. If the executor is closed and the caller is none
// of its tasks, the Future ends at once with [ErrClosed]. ex may be nil, see [Default].
func NewPromise[T any](ctx context.Context, ex *Executor) *Promise[T] {
	return newPromise[T](ctx, chooseFor(ctx, ex, "NewPromise"))
}

func newPromise[T any](ctx context.Context, ex *Executor) *Promise[T] {
	f := &Future[T]{}
	f.state.call = f
	f.state.initPromise(ctx, ex)
	p := &Promise[T]{future: f}
	if endsForgotten && ex.inline == nil {
		runtime.SetFinalizer(p, (*Promise[T]).forget)
	}
	return p
}

// initPromise begins a future that has no function.
func (f *future) initPromise(ctx context.Context, ex *Executor) {
	f.ex = ex
	f.Body = &ex.asyncs.Body
	f.ctx.owner = f
	f.ctx.within(ctx)
	if ex.closed.Load() && ex.currentWorker() == nil {
		f.claimed.Store(1)
		f.settle(nil, ErrClosed)
	}
}

// forget is the finalizer of a Promise. The future and those that wait for its end do not refer to the Promise. It ends
// the future on another goroutine, since the end may call functions of OnEnd, and the finalizers of the process run
// one after the other.
func (p *Promise[T]) forget() {
	aside(func() {
		var none T
		p.complete(none, ErrForgotten)
	})
}

// Future returns the Future that p ends.
func (p *Promise[T]) Future() *Future[T] {
	if p == nil || p.future == nil {
		panic("executor: a Promise is made by NewPromise")
	}
	return p.future
}

// Context returns a context for the work that is to resolve p. It ends with the Future, and has the values and the
// deadline of NewPromise's ctx.
func (p *Promise[T]) Context() context.Context { return &p.Future().state.ctx }

// Resolve ends the Future with the result. It reports whether it did: it does not if the Future has ended before.
// Functions that come after the Future see what happened before the call. On an executor of [NewInline] they are called
// before Resolve returns, unless the caller is one of its tasks.
func (p *Promise[T]) Resolve(result T) bool { return p.Complete(result, nil) }

// Reject is Resolve with an error. It panics if err is nil.
func (p *Promise[T]) Reject(err error) bool {
	if err == nil {
		panic("executor: Promise.Reject of a nil error")
	}
	var none T
	return p.Complete(none, err)
}

// Complete is Resolve if err is nil, and otherwise Reject with a result.
func (p *Promise[T]) Complete(result T, err error) bool {
	if !p.complete(result, err) {
		return false
	}
	if endsForgotten && p.future.state.ex.inline == nil {
		runtime.SetFinalizer(p, nil) // so that the first collection frees p; and keeps forget from coming first
	}
	return true
}

func (p *Promise[T]) complete(result T, err error) bool {
	f := p.Future()
	f.state.noticeContext()
	if !f.state.claim() {
		return false
	}
	f.result.Set(result)
	w := f.state.ex.currentWorker()
	if w != nil && w.body == nil {
		w = nil // a hook of the thread, or an observer: the worker runs no task that could push
	}
	f.state.settle(w, err)
	return true
}

// Timer returns a Future that ends after the duration d, with the time. It holds no worker and no goroutine meanwhile.
// If ctx ends first, or by [Future.Cancel], the timer is stopped, and the Future ends as that of a [Promise]. ex may be
// nil, see [Default].
func Timer(ctx context.Context, ex *Executor, d time.Duration) *Future[time.Time] {
	p := newPromise[time.Time](ctx, chooseFor(ctx, ex, "Timer"))
	timer := time.AfterFunc(d, func() { p.Resolve(time.Now()) })
	f := p.Future()
	f.OnEnd(func(time.Time, error) { timer.Stop() })
	return f
}
