package executor

import (
	"context"
	"fmt"
	"slices"

	"github.com/magpie-go/magpie/internal/xatomic"
	"github.com/magpie-go/magpie/internal/xsync"
)

// A future is the part of a Future that does not depend on the type of its result.
type future struct {
	Item         // first: see futureOf
	call  caller // the Future around it, which has the function and the result
	ex    *Executor
	ctx   taskContext
	joins xatomic.JoinCount // futures to wait for, and init until the future has a place with each

	claimed xatomic.Uint32              // 1 after the future was begun or cancelled
	err     xatomic.Plain[error]        // P1: published by ends
	ends    xatomic.Pointer[onEnd]      // the waiters for the end, newest first; &ended after the end
	after   xatomic.Pointer[comesAfter] // what it starts after; nil after the end, to keep no chain alive

	dependents xatomic.Pointer[dependents] // nil: no future comes after this one

	told         xatomic.Pointer[onEnd]        // the entry of ends with the channel of Done
	subscription xatomic.Pointer[subscription] // to the end of the caller's context; nil if the future need not be told
}

// Bits of the marks of a future's context, see oneLevel.
const (
	isListed = 1 << iota // the future was enlisted by subscribe
	hasRoom              // the future counts against Config.MaxRuns; set before it is submitted
	hasDone              // future.ends may have entries with channels
)

// A caller is the part of a Future that depends on the type of its result. A Future implements it.
type caller interface {
	make(*Worker, context.Context) error // calls the function and keeps the result
	drop()                               // drops the reference to the function
}

// asyncTasks holds the task of every Async, as observers see it.
var asyncTasks = newTaskSet(asyncName, "")

// An observedCall makes the call of a Future, and tells the observers of it.
type observedCall struct{ caller }

func (c observedCall) make(w *Worker, ctx context.Context) error {
	return callTask(w, nil, &asyncTasks.Tasks[0], ctx, func(ctx context.Context) error { return c.caller.make(w, ctx) })
}

// An onEnd is a waiter for a future's end.
type onEnd struct {
	next   *onEnd
	teller any // a *Worker to wake, a chan struct{} to close, a func(error) to call, or the future if it is enlisted
}

var ended onEnd

// A subscription has a future cancelled when the caller's context ends, until stop is called.
type subscription struct{ stop func() bool }

// init starts f.
func (f *future) init(ctx context.Context, ex *Executor, after []Awaitable) {
	if ctx == nil || ex == nil || ex.executor == nil {
		ex = chooseFor(ctx, ex, "Async")
	}
	f.ex = ex
	f.Body = &ex.asyncs.Body
	if ex.observers.tellsTasks() {
		f.call = observedCall{f.call}
	}
	f.ctx.owner, f.ctx.labels = f, labelsOf(ctx)
	before := futuresOf(after) // may panic, so before f is counted: Close waits for what is counted
	w := ex.currentWorker()
	w.mustBeInTask()
	f.ctx.within(ctx)
	if ex.intake != nil && w == nil {
		if err := ex.intake.enter(ctx, asyncName, false); err != nil {
			f.claimed.Store(1)
			f.settle(nil, err)
			return
		}
		f.ctx.marks.Or(hasRoom)
	}
	if !ex.asyncs.countIn(w) {
		f.claimed.Store(1)
		f.settle(w, ErrClosed)
		if ex.intake != nil {
			ex.intake.leave() // w is nil
		}
		return
	}
	if len(after) == 0 {
		f.submit(w)
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

// mustBeMade panics if f is of a zero Future.
func (f *future) mustBeMade() {
	if f == nil || f.ex == nil {
		panic("executor: a Future is made by Async, Timer or a Promise")
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

// submit makes f available to the workers. w is the calling worker of f's executor, or nil.
func (f *future) submit(w *Worker) {
	if w != nil {
		w.Push(&f.Item)
	} else {
		f.ex.inject(&f.Item)
		f.ex.drive(nil)
	}
}

// claim reports whether the caller is the one to begin or cancel f. The item stays where it is: a worker that takes it
// later finds nothing to do.
func (f *future) claim() bool { return f.claimed.Load() == 0 && f.claimed.CompareAndSwap(0, 1) }

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

// isOver reports whether f has ended. Its err and result are constant from then on.
func (f *future) isOver() bool { return f.ends.Load() == &ended }

// publishEnd publishes the end of f and returns its waiters, the newest first. What sees the end finds the channels of
// Done closed.
func (f *future) publishEnd() *onEnd {
	var past *onEnd // the channels of this entry and of those behind it are closed
	for {
		first := f.ends.Load()
		if first != nil && f.ctx.marks.Load()&hasDone != 0 {
			for e := first; e != past; e = e.next {
				if done, ok := e.teller.(chan struct{}); ok {
					xsync.Close(done) // P1: publishes err to those that see this first
				}
			}
			past = first
		}
		if f.ends.CompareAndSwap(first, &ended) {
			return first
		}
	}
}

// hasEnded reports whether any thread may know that f has ended. The channel of Done may be closed a moment before
// isOver returns true.
func (f *future) hasEnded() bool {
	if t := f.told.Load(); t != nil && xsync.IsClosed(t.teller.(chan struct{})) {
		return true
	}
	return f.isOver()
}

// tell adds e to the waiters for the end. It returns false if f has ended.
func (f *future) tell(e *onEnd) bool {
	if f.hasEnded() {
		return false
	}
	for {
		first := f.ends.Load()
		if first == &ended {
			return false
		}
		e.next = first
		if f.ends.CompareAndSwap(first, e) { // P1: publishes e
			return true
		}
	}
}

// finish ends f, which the caller has claimed. w is the calling worker of f's executor, or nil.
func (f *future) finish(w *Worker, err error) {
	if f.ex.intake != nil && f.ctx.marks.Load()&hasRoom != 0 {
		f.ex.intake.leave() // before the end is published: a caller of Wait finds the room free
	}
	defer f.ex.asyncs.countOut(w) // deferred: on an inline executor settle may run other futures, which may call Goexit
	f.settle(w, err)
}

// settle publishes the end of f and tells the waiters.
func (f *future) settle(w *Worker, err error) {
	f.call.drop()
	f.err.Set(err)
	f.after.Store(nil)
	f.ctx.cancel(context.Canceled, context.Canceled)
	// D1(end): publish the end, then look at subscription and dependents. Pairs with D1(subscribe) and D1(precede).
	e := f.publishEnd()
	if u := f.subscription.Load(); u != nil {
		f.ctx.unfollow(u.stop)
	}
	var calls *onEnd // the oldest first
	for e != nil {
		next := e.next
		e.next = nil // f.told keeps e, which must not keep other waiters alive
		switch to := e.teller.(type) {
		case *Worker:
			to.sleeper.wake(to)
		case *future:
			f.delist()
		case chan struct{}: // publishEnd has closed it
		default:
			e.next, calls = calls, e
		}
		e = next
	}
	if d := f.dependents.Load(); d != nil {
		for e := d.close(); e != nil; {
			next := e.older
			e.older, e.newer = nil, nil
			switch to := e.future; {
			case !to.joins.Done(1):
			case w != nil && w.core == &to.ex.core:
				to.submit(w)
			default:
				// Deferred: an inline executor may run it now, and Goexit in it must not skip the rest.
				defer to.submit(nil)
			}
			e = next
		}
	}
	if calls != nil {
		calls.call(err)
	}
}

// call calls the functions of OnEnd, of which e is the first, with err.
func (e *onEnd) call(err error) {
	if w := workerHere(); w != nil {
		w := partsOf(w)
		outer := w.inOnEnd
		w.inOnEnd = true
		defer func() { w.inOnEnd = outer }()
	}
	for ; e != nil; e = e.next {
		contained(e.teller.(func(error)), err)
	}
}

// inOnEnd reports whether w, the topmost worker that the caller runs on, or nil, is in a function of OnEnd, which must
// not wait: that of a run, which no run is around, or that of a future.
func inOnEnd(w *Worker) bool {
	return w != nil && w.body != nil && (w.run() == nil || partsOf(w).inOnEnd)
}

// cancel implements canceller. It ends f's context, and f itself unless it has begun.
func (f *future) cancel(err, cause error) {
	if cause == nil {
		cause = err
	}
	f.ctx.cancel(err, cause)
	switch {
	// D1(cancel): claim, then look for places. Pairs with D1(place).
	case !f.claim():
	case f.isPromise():
		f.settle(nil, newCancelError(promiseName, err, cause))
	default:
		if a := f.after.Load(); a != nil {
			a.leave()
		}
		f.finish(nil, newCancelError(asyncName, err, cause))
	}
}

// subscribe implements canceller. From now on f is cancelled when the caller's context ends, and when Shutdown cancels
// the work.
func (f *future) subscribe() {
	if f.ctx.real.Load() == nil && !f.isOver() && f.ctx.marks.Or(isListed)&isListed == 0 {
		f.enlist()
	}
	f.subscribeToCaller()
}

// home implements canceller.
func (f *future) home() any { return f.ex }

// subscribeToCaller has f cancelled when the caller's context ends.
func (f *future) subscribeToCaller() {
	parent := f.ctx.parent
	// Done last: each nested context asks the one above.
	if f.subscription.Load() != nil || f.isOver() || parent.Done() == nil {
		return
	}
	u := &subscription{f.ctx.follow()}
	// D1(subscribe): set subscription, then look for the end. Pairs with D1(end).
	if !f.subscription.CompareAndSwap(nil, u) || f.isOver() {
		u.stop()
	}
}

// subscribeForWaiter is called for a waiter that no worker is to help.
func (f *future) subscribeForWaiter() {
	f.mustBeMade()
	if f.isPromise() {
		f.subscribePromise()
	} else {
		f.subscribeToCaller()
	}
}

// Done returns a channel that is closed at the end.
func (f *future) Done() <-chan struct{} {
	f.subscribeForWaiter()
	e := f.told.Load()
	if e == nil {
		done := make(chan struct{})
		e = &onEnd{teller: done}
		f.ctx.marks.Or(hasDone) // first: publishEnd looks at it after it has seen e
		if !f.tell(e) {
			xsync.Close(done)
		}
		// Last: from now on other callers of Done return the channel, which has to be closed when they see the end.
		if !f.told.CompareAndSwap(nil, e) {
			e = f.told.Load()
		}
	}
	return e.teller.(chan struct{})
}

func (f *future) wait() {
	if f == nil {
		f.mustBeMade()
	}
	if f.isOver() {
		return
	}
	f.mustBeMade()
	here := workerHere()
	if w := f.ex.workerFrom(here); w != nil {
		waitFor(w, f)
		return
	}
	if here == nil && !f.isPromise() && f.after.Load() == nil && f.claimed.Load() == 0 {
		f.ex.attached.tellAwaited(f, &f.ex.asyncs.all.Run, &f.Item)
	}
	f.ex.block(f)
}

func (f *future) await() { <-f.Done() }

// OnEnd is [Run.OnEnd] for a Future: fn is called with what Wait returns. Close does not wait for it if the Future is
// that of a [Promise].
func (f *Future[T]) OnEnd(fn func(result T, err error)) {
	if fn == nil {
		panic("executor: Future.OnEnd of a nil function")
	}
	f.inner().mustBeMade()
	f.state.afterEnd(func(err error) { fn(f.result.Get(), err) })
}

func (f *future) afterEnd(fn func(error)) {
	if f.tell(&onEnd{teller: fn}) {
		f.subscribeForWaiter()
	} else {
		contained(fn, f.err.Get())
	}
}

// A firstEnd is over when one of two futures is: the one that a worker waits for, which may be cancelled, or one before
// it.
type firstEnd struct{ waited, before *future }

func (e firstEnd) isOver() bool { return e.before.isOver() || e.waited.isOver() }
func (e firstEnd) await()       { xsync.Await(e.before.Done(), e.waited.Done()) }

// waitFor waits for a future. If it has not begun, the worker first waits in the same way for the futures that it comes
// after, then runs it itself. If another thread has begun the future, the worker waits for it. It is in Blocking
// while it waits for a promise or a future of another executor.
func waitFor(w *Worker, waited *future) {
	w.core.attached.withheld.make(w) // the worker could keep it from others for long
	type waiting struct {
		*future
		past int // how many of the futures that it comes after were looked at
	}
	for todo := []waiting{{waited, 0}}; len(todo) > 0; {
		last := len(todo) - 1
		f := &todo[last]
		if before := f.after.Load(); before != nil && f.claimed.Load() == 0 && f.past < len(before.before) {
			b := before.before[f.past]
			f.past++
			if !b.isOver() {
				todo = append(todo, waiting{b, 0})
			}
			continue
		}
		own := f.future
		todo = todo[:last]
		end, isEnd := own.call.(endOfRun)
		switch {
		case &own.ex.core != w.core || own.isPromise():
			if own.ex.block(firstEnd{waited, own}); waited.isOver() {
				return
			}
			continue
		case isEnd:
			_ = end.run.wait(w, nil)
		case own.claimed.Load() != 0:
		case w.waits.nested < maxNested:
			w.runOnly(&own.Item)
		case own.claim():
			own.finish(w, ErrTooDeep)
		}
		if !own.isOver() {
			w.wait(&futureWait{onEnd: onEnd{teller: w}, f: own}, waiter{})
		}
	}
}

// A futureWait is a worker's wait for a future that another thread has begun. It runs nothing meanwhile.
type futureWait struct {
	onEnd // tells the worker
	f     *future
	told  bool // f has the onEnd, or has refused it
}

// isOver implements awaited. If f has refused the onEnd, nobody wakes the worker: isOver is true then.
func (x *futureWait) isOver() bool { return x.f.hasEnded() }

// find implements awaited.
func (x *futureWait) find(*Worker) found { return found{} }

// run implements awaited.
func (x *futureWait) run(*Worker, found, waiter) {}

// announce implements awaited. It is done once, and stands until the end.
func (x *futureWait) announce(*Worker) {
	if !x.told {
		x.told = true
		x.f.tell(&x.onEnd)
	}
}

// findLast implements awaited.
func (x *futureWait) findLast(*Worker) found { return found{} }

// withdraw implements awaited.
func (x *futureWait) withdraw(*Worker) {}
