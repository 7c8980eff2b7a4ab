package executor

import (
	"context"
	"fmt"

	"github.com/magpie-go/magpie/internal/xatomic"
)

// A future is a Future without its type.
type future struct {
	Item        // first: see futureOf
	call caller // the Future
	ex   *Executor
	ctx  taskContext
	left xatomic.JoinCount // futures to wait for, and init until it has entered the future with each

	claimed xatomic.Uint32             // 1 after the future was begun or cancelled
	err     xatomic.Plain[error]       // P1: published by ends
	ends    xatomic.Pointer[onEnd]     // the waiters for the end, newest first; &ended after the end
	after   xatomic.Pointer[[]*future] // futures that it starts after; nil after the end, to keep no chain alive
	told    xatomic.Pointer[onEnd]     // the entry of ends with the channel of Done
	watched xatomic.Pointer[unwatch]   // set when the future is to be told of the end of the caller's context
}

// A caller is the Future of a future.
type caller interface {
	make() error // calls the function, with future.ctx, and keeps the result
	drop()       // drops the reference to the function
}

// An onEnd is a waiter for a future's end. One of future, worker and done is set.
type onEnd struct {
	next   *onEnd
	future *future       // to start after the end
	worker *Worker       // to wake
	done   chan struct{} // to close
}

var ended onEnd

// An unwatch undoes context.AfterFunc.
type unwatch struct{ stop func() bool }

// init starts f.
func (f *future) init(ctx context.Context, ex *Executor, after []Awaitable) {
	if ctx == nil || ex == nil {
		panic("executor: Async needs a context and an executor, got nil")
	}
	f.ex = ex
	f.Body = &ex.asyncs.Body
	f.ctx.owner, f.ctx.parent, f.ctx.labels = f, ctx, labelsOf(ctx)
	before := futuresOf(after) // may panic, so before f is counted: Close waits for what is counted
	w := ex.currentWorker()
	if !ex.asyncs.begin(w) {
		f.claimed.Store(1)
		f.settle(w, ErrClosed)
		return
	}
	if len(after) == 0 {
		f.submit(w)
		return
	}
	f.after.Store(&before)
	f.left.Arm(uint32(len(after)) + 1)
	entries := make([]onEnd, len(after))
	for i, b := range before {
		entries[i].future = f
		if !b.tell(&entries[i]) {
			f.left.Done(1)
		}
	}
	if f.left.Done(1) {
		f.submit(w)
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
				"which is nil or not of Async's making", i))
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
		for _, b := range *before {
			if err := b.err.Get(); err != nil {
				return err
			}
		}
	}
	if err := f.ctx.Err(); err != nil {
		return newCancelError(asyncName, err, context.Cause(&f.ctx))
	}
	return nil
}

// isOver reports whether f has ended. Its err and result are constant from then on.
func (f *future) isOver() bool { return f.ends.Load() == &ended }

// tell adds e to the waiters for the end. It returns false if f has ended.
func (f *future) tell(e *onEnd) bool {
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

// end ends f, which the caller has claimed. w is the calling worker of f's executor, or nil.
func (f *future) end(w *Worker, err error) {
	defer f.ex.asyncs.end(w) // deferred: on an inline executor settle may run other futures, which may call Goexit
	f.settle(w, err)
}

// settle publishes the end of f and tells the waiters.
func (f *future) settle(w *Worker, err error) {
	f.call.drop()
	f.err.Set(err)
	f.after.Store(nil)
	f.ctx.cancel(context.Canceled, context.Canceled)
	// D1(end): publish the end, then look at watched. Pairs with D1(watch).
	e := f.ends.Swap(&ended)
	if u := f.watched.Load(); u != nil {
		f.ctx.unfollow(u.stop)
	}
	for e != nil {
		next := e.next
		e.next = nil // f.told keeps e, which must not keep other waiters alive
		switch {
		case e.done != nil:
			close(e.done)
		case e.worker != nil:
			e.worker.sleeper.wake(e.worker)
		case !e.future.left.Done(1):
		case w != nil && w.core == e.future.ex.core:
			e.future.submit(w)
		default:
			// Deferred: an inline executor may run it now, and Goexit in it must not skip the rest.
			defer e.future.submit(nil)
		}
		e = next
	}
}

// cancel implements canceller. It ends f's context, and f itself unless it has begun.
func (f *future) cancel(err, cause error) {
	if cause == nil {
		cause = err
	}
	f.ctx.cancel(err, cause)
	if f.claim() {
		f.end(nil, newCancelError(asyncName, err, cause))
	}
}

// watch implements canceller. From now on f is cancelled when the caller's context ends.
func (f *future) watch() {
	parent := f.ctx.parent
	// Done last: each nested context asks the one above.
	if f.watched.Load() != nil || f.isOver() || parent.Done() == nil {
		return
	}
	u := &unwatch{f.ctx.follow()}
	// D1(watch): set watched, then look for the end. Pairs with D1(end).
	if !f.watched.CompareAndSwap(nil, u) || f.isOver() {
		u.stop()
	}
}

// Done returns a channel that is closed at the end.
func (f *future) Done() <-chan struct{} {
	f.watch()
	e := f.told.Load()
	if e == nil {
		e = &onEnd{done: make(chan struct{})}
		if !f.told.CompareAndSwap(nil, e) {
			return f.told.Load().done
		}
		if !f.tell(e) {
			close(e.done)
		}
	}
	return e.done
}

func (f *future) wait() {
	if f.isOver() {
		return
	}
	if w := f.ex.currentWorker(); w != nil {
		w.waitFor(f)
	} else {
		f.ex.block(f)
	}
}

// An ending is a run or future that block waits for.
type ending interface {
	isOver() bool
	Done() <-chan struct{}
}

// waitFor waits for f. If f has not begun, the worker first waits in the same way for the futures that f comes after,
// then runs f itself. It sleeps while it waits for a future that another thread has begun.
func (w *Worker) waitFor(f *future) {
	w.forks.expose() // f could keep them from thieves for long
	type waiting struct {
		*future
		past int // how many of the futures that it comes after were looked at
	}
	for todo := []waiting{{f, 0}}; len(todo) > 0; {
		last := len(todo) - 1
		f := &todo[last]
		if before := f.after.Load(); before != nil && f.claimed.Load() == 0 && f.past < len(*before) {
			b := (*before)[f.past]
			f.past++
			if !b.isOver() {
				todo = append(todo, waiting{b, 0})
			}
			continue
		}
		own := f.future
		todo = todo[:last]
		switch {
		case own.ex.core != w.core:
			own.ex.block(own)
			continue
		case own.claimed.Load() != 0:
		case w.waits.nested < maxNested:
			w.runOnly(&own.Item)
		case own.claim():
			own.end(w, ErrTooDeep)
		}
		w.sleepUntil(own)
	}
}

// runOnly runs item it on top of the item that waits for it, and no item that it pushes.
func (w *Worker) runOnly(it *Item) {
	defer w.exitNested(w.enterNested(w.waits.run, w.waits.mark, w.waits.only))
	w.waits.nested++
	defer func() { w.waits.nested-- }()
	w.runOne(it)
}

// sleepUntil sleeps until f, which another thread has begun, has ended.
func (w *Worker) sleepUntil(f *future) {
	for range helpSpins {
		if f.isOver() {
			return
		}
	}
	w.bringForward()
	if !f.tell(&onEnd{worker: w}) {
		return
	}
	state := w.state.Load()
	for !f.isOver() { // a wake-up may be an old one, for an earlier wait
		w.sleepInWait()
	}
	w.state.Store(state)
}
