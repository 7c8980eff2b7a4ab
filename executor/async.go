package executor

import (
	"context"
	"fmt"
	"slices"

	"github.com/magpie-go/magpie/internal/xatomic"
)

// Async calls fn on the executor and returns at once. The Future has what fn returns, or a [*PanicError] if fn panics.
// fn is called when all futures and runs in after have ended without an error. If one of them ends with an error, fn is
// not called, and the Future ends with that error. If ctx ends before fn is called, the Future's error matches ctx's.
// Later fn must look at its context, which ends with fn. No element of after may be nil.
//
// An Async costs one allocation and a fraction of a run. A future that a task starts is not part of the task's run:
// work that the run should wait for belongs in a [Scope]. With a [Config.MaxRuns], Async called from outside first
// waits for room; if ctx ends meanwhile, so does the Future. Where it was quicker before, fn is left to the caller of
// Wait, or to a worker some 10 ms later. After Close the error is [ErrClosed]. ex may be nil, see [Default].
func Async[T any](
	ctx context.Context, ex *Executor, fn func(context.Context) (T, error), after ...Awaitable,
) *Future[T] {
	if fn == nil {
		panic("executor: Async of a nil function")
	}
	f := &Future[T]{fn: fn}
	f.state.Exec, f.state.call = execFuture, f
	f.state.init(ctx, ex, codeOf(&fn), after)
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

// Done returns a channel that is closed at the end, see [Awaitable].
func (f *Future[T]) Done() <-chan struct{} { return f.inner().Done() }

// Cancel ends the Future with an error that matches [context.Canceled] and the cause if its function has not been
// called, and otherwise cancels the context of the function. A nil cause means context.Canceled. Cancel does not wait.
func (f *Future[T]) Cancel(cause error) {
	f.inner().mustBeMade()
	f.state.cancel(context.Canceled, cause)
}

// OnEnd is [Run.OnEnd] for a Future: fn is called with what Wait returns. Close does not wait for it if the Future is
// that of a [Promise].
func (f *Future[T]) OnEnd(fn func(result T, err error)) {
	if fn == nil {
		panic("executor: Future.OnEnd of a nil function")
	}
	f.inner().mustBeMade()
	f.state.afterEnd(func(err error) { fn(f.result.Get(), err) })
}

func (f *Future[T]) awaitable() *future { return f.inner() }

// inner returns the part of f that does not depend on its type, or nil if f is nil.
func (f *Future[T]) inner() *future {
	if f == nil {
		return nil
	}
	return &f.state
}

func (f *Future[T]) make(_ *Worker, ctx context.Context) error {
	result, err := f.fn(ctx)
	f.result.Set(result)
	return err
}

func (f *Future[T]) drop() { f.fn = nil }

// init starts f. code is that of its function.
func (f *future) init(ctx context.Context, ex *Executor, code uintptr, after []Awaitable) {
	if ctx == nil || ex == nil || ex.executor == nil {
		ex = chooseFor(ctx, ex, "Async")
	}
	f.ex = ex
	f.Body = &ex.asyncs.Body
	if ex.observers.tellsTasks() {
		f.call = observedCall{f.call}
	}
	f.ctx.owner = f
	before := futuresOf(after) // may panic, so before f is counted: Close waits for what is counted
	w := ex.currentWorker()
	w.mustBeInTask()
	f.ctx.within(ctx)
	inside := false
	if ex.intake != nil && w == nil {
		var err error
		if inside, err = ex.intake.enter(ctx, asyncName, false); err != nil {
			f.claimed.Store(1)
			f.settle(nil, err)
			return
		}
	}
	if inside {
		f.ctx.marks.Or(hasRoom)
	}
	if !ex.asyncs.countIn(w) {
		f.claimed.Store(1)
		f.settle(w, ErrClosed)
		if inside {
			ex.intake.leave()
		}
		return
	}
	if len(after) == 0 {
		if w != nil || !f.withhold(code) {
			f.submit(w)
		}
		return
	}
	foreign := slices.ContainsFunc(before, func(b *future) bool { return &b.ex.core != &ex.core })
	a := &comesAfter{before: before}
	ready, pending := a.start(f)
	if ready {
		f.submit(w)
	} else if foreign {
		f.enlist()
	}
	for _, p := range pending {
		p.noticeContext()
	}
}

// futuresOf returns the future of each Awaitable.
func futuresOf(all []Awaitable) []*future {
	if len(all) == 0 {
		return nil
	}
	futures := make([]*future, len(all))
	for i, a := range all {
		if a != nil {
			futures[i] = a.awaitable()
		}
		if futures[i] == nil || futures[i].ex == nil {
			panic(fmt.Sprintf("executor: Async is to come after number %d of those given, "+
				"which is nil, or no Future of Async and no Run of Start", i))
		}
	}
	return futures
}

// start makes f, which has no places yet, a dependent of each future before it. It reports whether all have ended, and
// returns futures that the caller is to look at when f is submitted, see add.
func (a *comesAfter) start(f *future) (ready bool, pending []*future) {
	a.places = make([]dependence, len(a.before))
	f.joins.Arm(uint32(len(a.before)) + 1)
	for i, b := range a.before {
		a.places[i].future = f
		others, open := b.precede(&a.places[i])
		pending = append(pending, others...)
		if !open {
			f.joins.Done(1)
		} else if b.isPromise() {
			b.subscribePromise()
		}
	}
	// D1(place): publish the places, then look whether f was claimed. Pairs with D1(cancel).
	f.after.Store(a)
	if f.claimed.Load() != 0 { // a sweep has cancelled it
		a.leave()
		f.after.Store(nil)
	}
	return f.joins.Done(1), pending
}

// asyncTasks holds the task of every Async, as observers see it.
var asyncTasks = newTaskSet(asyncName, "")

// An observedCall makes the call of a Future, and tells the observers of it.
type observedCall struct{ caller }

func (c observedCall) make(w *Worker, ctx context.Context) error {
	return callTask(w, nil, &asyncTasks.Tasks[0], ctx, func(ctx context.Context) error { return c.caller.make(w, ctx) })
}

func execFuture(w *Worker, it *Item) *Item {
	f := futureOf(it)
	if !f.claim() { // it was cancelled
		partsOf(w).skip(it.Body.Run())
		return nil
	}
	err := f.begin()
	if err != nil {
		partsOf(w).skip(it.Body.Run())
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

// begin returns the error for which f's function must not be called, or nil. The caller has claimed f.
func (f *future) begin() error {
	if before := f.after.Load(); before != nil {
		for _, b := range before.before {
			if err := b.err.Get(); err != nil {
				return err
			}
		}
	}
	if f.Body.Stopped() {
		return f.ex.asyncs.enlisted.err
	}
	if err := f.ctx.Err(); err != nil {
		return newCancelError(asyncName, err, context.Cause(&f.ctx))
	}
	return nil
}

// Fail implements Hooks.
func (a *asyncs) Fail(w *Worker, it *Item, err error) *Item {
	if f := futureOf(it); !f.isOver() { // else f has ended, and the Goexit came from a future after it
		f.finish(w, inJob(err, asyncName))
	}
	return nil
}

// awaitable returns the future that ends with the run's error after the run has ended.
func (r *Run) awaitable() *future {
	if r == nil || executorOf(r.core) == nil {
		return nil
	}
	r.mu.Lock()
	of := partsOfRun(r)
	f := of.endFuture
	if f != nil {
		r.mu.Unlock()
		return f
	}
	ex := r.of.(*Executor)
	f = &future{call: endOfRun{r}, ex: ex}
	f.Exec, f.Body = execFuture, &ex.asyncs.Body
	f.ctx.owner, f.ctx.parent = f, context.Background()
	f.claimed.Store(1)
	of.endFuture = f
	r.mu.Unlock()
	// First: a function of OnEnd may start a run, and wait for room that what comes after f has.
	r.tell(func(err error) { f.settle(nil, err) }, true)
	return f
}
