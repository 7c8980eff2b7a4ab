package executor

import (
	"context"

	"github.com/magpie-go/magpie/internal/left"
	"github.com/magpie-go/magpie/internal/xatomic"
)

// Async has fn called on the executor and returns at once. The Future carries what fn returns; a panic of fn becomes its
// error, a [*PanicError]. fn is called after all of after have ended without an error; if one has not, fn is not called,
// and the Future ends with that one's error. Cancelling ctx before fn is called ends the Future with ctx's error; after
// that, fn is to look at the context that it is given.
//
// The context that fn is given also ends when fn returns: what fn starts and does not wait for needs another one.
//
// Async is for single calls from anywhere: it costs one allocation and a fraction of a run. What a task starts with it is
// not part of the task's run, which does not wait for it; children that it should wait for belong in a [Scope].
//
// After Close the Future's error is [ErrClosed]. Async panics if fn is nil, and if one of after is nil or has not been
// made by Async; then it has started nothing.
func Async[T any](ctx context.Context, ex *Executor, fn func(context.Context) (T, error), after ...Awaitable) *Future[T] {
	if fn == nil {
		panic("executor: Async of a nil function")
	}
	f := &Future[T]{fn: fn}
	f.state.Exec, f.state.call = execFuture, f
	f.state.init(ctx, ex, after)
	return f
}

// An Awaitable is a [Future] of any type.
type Awaitable interface {
	// Done returns a channel that is closed at the end.
	Done() <-chan struct{}
	awaitable() *future
}

// A Future is what becomes of a call of [Async]. All methods may be called from any goroutine, from tasks too, and after
// the end.
type Future[T any] struct {
	state  future
	fn     func(context.Context) (T, error)
	result xatomic.Plain[T]
}

// Wait waits for the end and returns what the function returned, or why it was not called.
//
// On a worker of the same executor it calls the function itself unless somebody has begun to, after those that it comes
// after, so that a task may wait for what it has started, whatever the number of workers. If another worker has begun, this
// one sleeps.
func (f *Future[T]) Wait() (T, error) {
	f.state.wait()
	return f.result.Get(), f.state.err.Get()
}

func (f *Future[T]) drop() { f.fn = nil }

// Done returns a channel that is closed at the end.
func (f *Future[T]) Done() <-chan struct{} { return f.state.Done() }

// Cancel ends the Future with context.Canceled and the cause if its function has not been called, and else cancels the
// context that the function was given. A nil cause means context.Canceled. It does not wait.
func (f *Future[T]) Cancel(cause error) { f.state.cancel(context.Canceled, cause) }

func (f *Future[T]) awaitable() *future {
	if f == nil {
		return nil
	}
	return &f.state
}

func (f *Future[T]) make() error {
	result, err := f.fn(&f.state.ctx)
	f.result.Set(result)
	return err
}

func execFuture(w *Worker, it *Item) *Item {
	f := futureOf(it)
	if !f.claim() {
		w.uncount()
		return nil
	}
	err := f.begin()
	if err == nil {
		before := w.labels.set
		if labels := w.labelsFor(f.ctx.labels); labels != before || w.waits.nested > 0 { // the task below may have labels of its own
			w.setLabels(labels)
		}
		err = f.call.make()
		w.setLabels(before) // each future is as a run of its own
	}
	f.end(w, err)
	return nil
}

const asyncName = "async"

// asyncs is what all futures of an executor have in common: the body of their items, as if they were one run that never
// ends. It implements Hooks.
type asyncs struct {
	Body
	ex  *Executor
	all JobRun

	// left counts those that have not ended. Workers count theirs and bring it here when they turn to something
	// else. Until its end, Executor.running counts them as one run. The next future begins it anew, under Executor.mu.
	left left.Count
}

func (a *asyncs) init(ex *Executor) {
	a.ex = ex
	a.Body = NewBody(a)
	a.all = JobRun{Run{ex: ex}}
	a.all.job = &funcJob{name: asyncName}
	a.run.Set(&a.all)
}

// begin counts a future in, unless the executor is closed; w is the calling worker, or nil.
func (a *asyncs) begin(w *Worker) bool {
	ex := a.ex
	if (w != nil || !ex.closed.Load()) && a.left.TryIn() {
		return true
	}
	ex.mu.Lock()
	defer ex.mu.Unlock()
	if ex.closed.Load() && w == nil {
		return false
	}
	if !a.left.TryIn() {
		ex.running.Add(1)
		a.left.Start(1)
	}
	return true
}

// end counts one out that w has run, or anybody else if that is nil.
func (a *asyncs) end(w *Worker) {
	if w != nil && w.body == &a.Body {
		w.futures++
		return
	}
	a.leave(1)
}

func (a *asyncs) leave(n int64) {
	if n > 0 && a.left.Out(n) {
		a.ex.running.Done()
	}
}

// Enter implements Hooks.
func (a *asyncs) Enter(*Worker) {}

// Leave implements Hooks.
func (a *asyncs) Leave(w *Worker) {
	n := w.futures
	w.futures = 0
	a.leave(n)
}

// Flush implements Hooks.
func (a *asyncs) Flush(w *Worker) { a.Leave(w) }

// Fail implements Hooks.
func (a *asyncs) Fail(w *Worker, it *Item, err error) *Item {
	if f := futureOf(it); !f.isOver() { // else Goexit ended one that came after f
		f.end(w, err)
	}
	return nil
}

// Release implements Hooks.
func (a *asyncs) Release() {}
