package executor

import "context"

// submit makes f available to the workers. w is the calling worker of f's executor, or nil.
func (f *future) submit(w *Worker) {
	if w != nil {
		w.Push(&f.Item)
	} else {
		f.ex.inject(&f.Item)
		f.ex.drive(nil)
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
		var outside *dependence // of other executors, or of this one if w is nil; the oldest first
		for e := d.close(); e != nil; {
			next := e.older
			e.older, e.newer = nil, nil
			switch to := e.future; {
			case !to.joins.Done(1):
			case w != nil && w.core == &to.ex.core:
				to.submit(w)
			case to.ex.inline == nil:
				e.older, outside = outside, e
			default:
				// Deferred: an inline executor may run it now, and Goexit in it must not skip the rest.
				defer to.submit(nil)
			}
			e = next
		}
		// Before calls: a function of OnEnd may start a run, and wait for the room that one of these has.
		for e := outside; e != nil; {
			next := e.older
			e.older = nil
			e.future.submit(nil)
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

// home implements canceller.
func (f *future) home() any { return f.ex }

// leader implements canceller.
func (f *future) leader() *Run { return nil }

// noticeContext cancels f if its context has ended, or abort was called: no worker comes to look for f.
func (f *future) noticeContext() {
	defer f.ctx.contain()
	_ = f.ctx.Err()
}

// subscribe implements canceller. From now on f is cancelled when the caller's context ends, and when Shutdown cancels
// the work.
func (f *future) subscribe() {
	if f.ctx.real.Load() == nil && !f.isOver() && f.ctx.marks.Or(isListed)&isListed == 0 {
		f.enlist()
	}
	f.subscribeToCaller()
}

// subscribePromise is called for a waiter for the end of f, a Promise's. No worker comes upon f to look at its context.
// So from the first waiter on, f is told of the end of the caller's context and of abort. Until then, what resolves f
// looks at them first.
func (f *future) subscribePromise() {
	defer f.ctx.contain()
	f.subscribe()
}

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
