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
	left xatomic.JoinCount // futures to wait for, and the call that sets it up

	claimed xatomic.Uint32             // 1 once somebody has begun it, or cancelled it
	err     xatomic.Plain[error]       // P1: published by ends
	ends    xatomic.Pointer[onEnd]     // those who wait for the end, newest first; at the end &ended
	after   xatomic.Pointer[[]*future] // those that it starts after; nil at the end, or a chain would stay alive as a whole
	told    xatomic.Pointer[onEnd]     // the one of those with the channel of Done
	watched xatomic.Pointer[unwatch]   // set once somebody is to be told of the end of the caller's context
}

// A caller is a Future as its future sees it.
type caller interface {
	make() error // calls the function, with future.ctx, and keeps the result
	drop()       // forgets the function
}

// An onEnd is somebody who waits for a future's end: one of the three.
type onEnd struct {
	next   *onEnd
	future *future // to be started after it
	worker *Worker // to be woken
	done   chan struct{}
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
	before := futuresOf(after) // it may panic: before f is counted, for which Close waits
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

// futuresOf is what stands behind each of all.
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
			panic(fmt.Sprintf("executor: Async is to come after number %d of those given, which is nil or not of Async's making", i))
		}
	}
	return futures
}

// submit makes f available; w is the calling worker of f's executor, or nil.
func (f *future) submit(w *Worker) {
	if w != nil {
		w.Push(&f.Item)
	} else {
		f.ex.inject(&f.Item)
		f.ex.drive(nil)
	}
}

// claim reports whether it is the caller who begins f, or cancels it. The item stays where it is: whoever comes upon it
// later finds that there is nothing to do.
func (f *future) claim() bool { return f.claimed.Load() == 0 && f.claimed.CompareAndSwap(0, 1) }

// begin returns why f's function is not to be called, or nil. The caller has claimed it.
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

// isOver reports whether f has ended: then err and the result are constant.
func (f *future) isOver() bool { return f.ends.Load() == &ended }

// tell enters e among those who are told of the end, or returns false if f has ended.
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

// end ends f, which the caller has claimed; w is the calling worker of f's executor, or nil.
func (f *future) end(w *Worker, err error) {
	defer f.ex.asyncs.end(w) // also if Goexit ends one that comes after f
	f.settle(w, err)
}

// settle publishes the end.
func (f *future) settle(w *Worker, err error) {
	f.call.drop()
	f.err.Set(err)
	f.after.Store(nil)
	f.ctx.cancel(context.Canceled, context.Canceled)
	// D1(end): the end, then look for somebody to unwatch. Pairs with D1(watch).
	e := f.ends.Swap(&ended)
	if u := f.watched.Load(); u != nil {
		f.ctx.unfollow(u.stop)
	}
	for e != nil {
		next := e.next
		e.next = nil // or that of Done, which f keeps, would keep alive what comes after f
		switch {
		case e.done != nil:
			close(e.done)
		case e.worker != nil:
			e.worker.sleeper.wake(e.worker)
		case !e.future.left.Done(1):
		case w != nil && w.core == e.future.ex.core:
			e.future.submit(w)
		default:
			defer e.future.submit(nil) // an inline executor may run it at once, and Goexit in it must not lose the others
		}
		e = next
	}
}

// cancel implements canceller: it ends f, or its context if somebody has begun it.
func (f *future) cancel(err, cause error) {
	if cause == nil {
		cause = err
	}
	f.ctx.cancel(err, cause)
	if f.claim() {
		f.end(nil, newCancelError(asyncName, err, cause))
	}
}

// watch implements canceller: it has f cancelled when the caller's context ends, without anybody's looking.
func (f *future) watch() {
	parent := f.ctx.parent
	if f.watched.Load() != nil || f.isOver() || parent.Done() == nil { // Done last: contexts in contexts each ask the one above
		return
	}
	u := &unwatch{f.ctx.follow()}
	// D1(watch): tell that there is somebody to unwatch, then look for the end. Pairs with D1(end).
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

// An ending is what block waits for the end of.
type ending interface {
	isOver() bool
	Done() <-chan struct{}
}

// waitFor waits for f: the worker runs it itself, after what it comes after, except what others have begun.
func (w *Worker) waitFor(f *future) {
	w.forks.expose() // or the call would keep them from others
	type waiting struct {
		*future
		past int // how many of those that it comes after have ended
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

// runOnly runs it on top of the item that waits for it, and nothing that it leaves behind.
func (w *Worker) runOnly(it *Item) {
	defer w.exitNested(w.enterNested(w.waits.run, w.waits.mark, w.waits.only))
	w.waits.nested++
	defer func() { w.waits.nested-- }()
	returned := false
	defer func() {
		if !returned {
			w.failed(it, recover())
		}
	}()
	if w.body != it.Body {
		w.enter(it.Body)
	}
	w.counts.items++
	w.noticeContexts()
	it.Exec(w, it)
	returned = true
}

// sleepUntil sleeps until f, which somebody else has begun, has ended.
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
	for !f.isOver() { // a wake-up may be meant for something else
		w.sleepInWait()
	}
	w.state.Store(state)
}
