package executor

import (
	"context"

	"github.com/magpie-go/magpie/internal/left"
	"github.com/magpie-go/magpie/internal/xatomic"
)

// Async calls fn on the executor and returns at once. The Future has what fn returns, or a [*PanicError] if fn panics.
// fn is called when all futures and runs in after have ended without an error. If one of them ends with an error, fn is
// not called, and the Future ends with that error. If ctx ends before fn is called, the Future's error matches ctx's.
// Later, fn itself has to look at the context that it is given. That context also ends when fn returns: work that fn
// starts and does not wait for needs another one.
//
// An Async costs one allocation and a fraction of a run. A future that a task starts is not part of the task's run:
// work that the run should wait for belongs in a [Scope]. With a [Config.MaxRuns], Async called from outside first
// waits for room; if ctx ends meanwhile, so does the Future. After Close the error is [ErrClosed]. ex may be nil, see
// [Default]. Elements of after may not.
func Async[T any](
	ctx context.Context, ex *Executor, fn func(context.Context) (T, error), after ...Awaitable,
) *Future[T] {
	if fn == nil {
		panic("executor: Async of a nil function")
	}
	f := &Future[T]{fn: fn}
	f.state.Exec, f.state.call = execFuture, f
	f.state.init(ctx, ex, after)
	return f
}

// An Awaitable is a [Future] of any type, or a [Run], of any executor.
type Awaitable interface {
	// Done returns a channel that is closed when the Future or Run has ended. It is closed before Wait returns, and
	// before a function of OnEnd or of an [Async] that comes after is called.
	Done() <-chan struct{}
	awaitable() *future
}

// A Future is the result of a call of [Async], once the call has ended.
type Future[T any] struct {
	state  future
	fn     func(context.Context) (T, error)
	result xatomic.Plain[T]
}

// Wait waits for the end and returns what the function returned, or why it was not called. On a worker of the same
// executor, Wait calls the function itself unless it has begun, and before it those of the futures that it comes after.
// For runs that it comes after, it waits as [Run.Wait] does. So a task may wait for a future that it has started, with
// any number of workers. If another worker has begun the function, the worker sleeps. Wait waits for the Future of a
// [Promise], or of another executor, as in [Blocking]. A caller from outside, too, calls the function itself, and a
// Goexit in it ends the caller.
func (f *Future[T]) Wait() (T, error) {
	f.inner().wait()
	return f.result.Get(), f.state.err.Get()
}

func (f *Future[T]) drop() { f.fn = nil }

// inner returns the part of f that does not depend on its type, or nil if f is nil.
func (f *Future[T]) inner() *future {
	if f == nil {
		return nil
	}
	return &f.state
}

// Done returns a channel that is closed at the end, see [Awaitable].
func (f *Future[T]) Done() <-chan struct{} { return f.inner().Done() }

// Cancel ends the Future with an error that matches [context.Canceled] and the cause if its function has not been
// called, and otherwise cancels the context of the function. A nil cause means context.Canceled. Cancel does not wait.
func (f *Future[T]) Cancel(cause error) {
	f.inner().mustBeMade()
	f.state.cancel(context.Canceled, cause)
}

func (f *Future[T]) awaitable() *future { return f.inner() }

func (f *Future[T]) make(_ *Worker, ctx context.Context) error {
	result, err := f.fn(ctx)
	f.result.Set(result)
	return err
}

func execFuture(w *Worker, it *Item) *Item {
	f := futureOf(it)
	if !f.claim() { // it was cancelled
		partsOf(w).skip()
		return nil
	}
	err := f.begin()
	if err != nil {
		partsOf(w).skip()
	} else {
		before := w.labels.set
		// In a nested wait the task below may have set labels of its own.
		if labels := w.labelsFor(f.ctx.labels); labels != before || w.waits.nested > 0 {
			w.setLabels(labels)
		}
		err = f.call.make(w, &f.ctx)
		w.setLabels(before) // the labels of a future end with it, as those of a run do
	}
	f.finish(w, err)
	return nil
}

// Names in the errors of futures that were cancelled.
const (
	asyncName   = "async"
	promiseName = "promise"
)

// asyncs is the state that all futures of an executor share: the body of their items, which behaves as that of one run
// that never ends. It implements Hooks.
type asyncs struct {
	Body
	ex  *executor
	all runParts

	// left counts the futures that have not ended. A worker counts those that it ends in workerParts.futures, and
	// subtracts them when it leaves the body, or at a Flush. While left is not 0, core.running counts all futures as
	// one run. After left has come to 0 the next future starts it anew, under core.mu.
	left left.Count

	over runCalls // left has come to 0; constant

	enlisted enlisted
}

// allAsyncs is the job of the run of all futures.
type allAsyncs struct{}

func (allAsyncs) Name() string                 { return asyncName }
func (allAsyncs) Begin(*JobRun) (*Item, error) { panic("executor: the run of all futures has begun") }

func (a *asyncs) init(ex *executor) {
	a.ex = ex
	a.Body.Init(a)
	a.all.core, a.all.endless, a.all.job = &ex.core, true, allAsyncs{}
	a.all.ctx.owner, a.all.ctx.parent = &a.all.JobRun, context.Background() // for Yield
	a.run.Set(&a.all.JobRun)
}

// attachTo has the kernel know that futures are in progress.
func (a *asyncs) attachTo(on *attachments) {
	on.works = append(on.works, func() bool { return a.left.Load() != 0 })
}

// countIn counts a future in. It returns false if the executor is closed and w, the calling worker, is nil.
func (a *asyncs) countIn(w *Worker) bool {
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
		ex.attached.busy.make()
		a.left.Start(1)
	}
	return true
}

// countOut counts a future out that worker w has ended, or another thread if w is nil.
func (a *asyncs) countOut(w *Worker) {
	if w != nil && w.body == &a.Body {
		partsOf(w).futures++
		return
	}
	a.leave(1)
}

func (a *asyncs) leave(n int64) {
	if n > 0 && a.left.Out(n) {
		a.over.make(&a.all.Run)
		a.ex.attached.idle.make()
		a.ex.running.Done()
	}
}

// Enter implements Hooks.
func (a *asyncs) Enter(*Worker) {}

// Leave implements Hooks.
func (a *asyncs) Leave(w *Worker) {
	n := partsOf(w).futures
	partsOf(w).futures = 0
	a.leave(n)
}

// Flush implements Hooks.
func (a *asyncs) Flush(w *Worker) { a.Leave(w) }

// Fail implements Hooks.
func (a *asyncs) Fail(w *Worker, it *Item, err error) *Item {
	if f := futureOf(it); !f.isOver() { // else f has ended, and the Goexit came from a future after it
		f.finish(w, inJob(err, asyncName))
	}
	return nil
}

// Release implements Hooks.
func (a *asyncs) Release() {}
