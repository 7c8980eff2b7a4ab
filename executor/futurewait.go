package executor

import "github.com/magpie-go/magpie/internal/xsync"

func (f *future) wait() {
	if f == nil {
		f.mustBeMade()
	}
	if f.isOver() {
		f.noteSite()
		return
	}
	f.mustBeMade()
	here := workerHere()
	if w := f.ex.workerFrom(here); w != nil {
		waitFor(w, f)
		return
	}
	if here == nil && !f.isPromise() && f.after.Load() == nil && f.claimed.Load() == 0 && !f.runWithheld() {
		f.ex.attached.tellAwaited(f, &f.ex.asyncs.all.Run, &f.Item)
	}
	f.show() // the caller cannot run it
	f.ex.block(f)
	f.noteSite()
}

func (f *future) await() { <-f.Done() }

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

func (f *future) afterEnd(fn func(error)) {
	if f.tell(&onEnd{teller: fn}) {
		f.subscribeForWaiter()
	} else {
		contained(fn, f.err.Get())
	}
}

// subscribeForWaiter is called for a waiter that no worker is to help.
func (f *future) subscribeForWaiter() {
	f.mustBeMade()
	f.show()
	if f.isPromise() {
		f.subscribePromise()
	} else {
		f.subscribeToCaller()
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
			own.show()
			if own.ex.block(firstEnd{waited, own}); waited.isOver() {
				return
			}
			continue
		case isEnd:
			_ = end.run.wait(w, nil)
		case own.claimed.Load() != 0:
		case w.waits.nested < maxNested:
			if s := own.takeWithheld(); s != nil { // a worker that sleeps could have run it
				s.miss()
				own.site.Store(nil)
			}
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

// runOnly runs item it on top of the item that waits for it, and no item that it pushes.
func (w *Worker) runOnly(it *Item) {
	defer w.exitNested(w.enterNested(w.waits.run, w.waits.mark, w.waits.only))
	w.waits.nested++
	defer func() { w.waits.nested-- }()
	w.runOne(it)
}
