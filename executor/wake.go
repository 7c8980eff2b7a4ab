package executor

import "iter"

// inject makes an item available through the injector and wakes a worker for it if there is no thief. Any thread.
func (ex *core) inject(it *Item) { ex.injectAll(it, nil) }

// injectAll makes several items of one run available through the injector: first, and the others if there are any. The
// policy is told once (document 000, Algorithm 1).
func (ex *core) injectAll(first *Item, others iter.Seq[*Item]) {
	run := first.Body.owner() // before the push: after it the run may end, and the body serve another
	n := ex.injector.pushAll(first, others)
	// D1(inject): as D1(push).
	ex.policy.Submitted(n)
	ex.attached.submitted.make()
	if ex.sleepingHelpers.Load() > 0 {
		ex.wakeHelpers(run, nil)
	}
}

// anyItem reports whether there was an item to take in the injector or a lane. It looks at one after the other: an item
// that appears meanwhile may be missed.
func (ex *core) anyItem() bool {
	if !ex.injector.isEmpty() {
		return true
	}
	for _, w := range ex.workers() {
		if w.lane.Ask() {
			return true
		}
	}
	return false
}

// anyoneAsleep is the cheap check before wakeFor. It is true, too, for a worker that was notified after its Prepare and
// has not called Commit or Cancel yet.
func (ex *core) anyoneAsleep() bool {
	return !ex.notifier.Idle() || ex.sleepingHelpers.Load() > 0
}

// wakeFor wakes a worker, and the helpers concerned, for items of r in w's lane, or of any run if r is nil.
func (w *Worker) wakeFor(r *Run) {
	w.core.policy.Shown()
	if w.core.sleepingHelpers.Load() > 0 {
		w.core.wakeHelpers(r, w)
	}
}

// wakeForPushed wakes a worker for what the item being run has pushed, unless a feature keeps quiet about it.
func (w *Worker) wakeForPushed() {
	if !w.core.attached.quiet.any(w) {
		w.wakeFor(w.body.owner())
	}
}

// wakeHelpers wakes the sleeping helpers that may run items of run pushed, or of any run if pushed is nil, in the lane
// of worker by, or anywhere if by is nil.
func (ex *core) wakeHelpers(pushed *Run, by *Worker) {
	for _, w := range ex.workers() {
		if from := w.sleeper.from.Load(); from != 0 && by != nil && from&by.bit() == 0 {
			continue
		}
		if r := w.sleeper.run.Load(); r != nil && (pushed == nil || pushed.isFor(r)) {
			w.sleeper.wake(w)
		}
	}
}

// wakeHelpersOf wakes the sleeping helpers that wait for the end of r.
func (ex *core) wakeHelpersOf(r *Run) {
	for _, w := range ex.workers() {
		if w.sleeper.run.Load() == r {
			w.sleeper.wake(w)
		}
	}
}
