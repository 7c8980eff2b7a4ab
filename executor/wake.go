package executor

// inject makes an item available through the injector and wakes somebody to run it. Any thread.
func (ex *Executor) inject(it *Item) {
	run := it.Body.owner() // before the push: after it the item may be run and the run be over
	ex.injector.push(it)
	// D1(inject): as D1(push).
	ex.policy.Submitted()
	if ex.sleepingHelpers.Load() > 0 {
		ex.wakeHelpers(run, nil)
	}
}

// anyItem reports whether there was an item to take, in a lane or in the injector, at the moment of the look at each.
func (ex *Executor) anyItem() bool {
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

// anyoneAsleep is the cheap look before wakeFor.
func (ex *core) anyoneAsleep() bool {
	return ex.notifier.Waiting() || ex.sleepingHelpers.Load() > 0
}

// wakeFor wakes somebody for items of r, or of any run if r is nil.
func (w *Worker) wakeFor(r *Run) {
	w.core.policy.Shown()
	if w.core.sleepingHelpers.Load() > 0 {
		w.ex.wakeHelpers(r, w)
	}
}

// wakeForPushed wakes somebody for items of the run of the item being run.
func (w *Worker) wakeForPushed() { w.wakeFor(w.body.owner()) }

// wakeHelpers wakes the helpers, asleep, that may run items of run pushed, or of any run if it is nil, that are in the
// lane of worker by, or anywhere if that is nil.
func (ex *Executor) wakeHelpers(pushed *Run, by *Worker) {
	for _, w := range ex.workers() {
		if from := w.leaps.from.Load(); from != 0 && by != nil && from&by.bit() == 0 {
			continue
		}
		if r := w.sleeper.run.Load(); r != nil && (pushed == nil || pushed.isWithin(r)) {
			w.sleeper.wake(w)
		}
	}
}

// wakeHelpersOf wakes the helpers that wait for r's end.
func (ex *Executor) wakeHelpersOf(r *Run) {
	for _, w := range ex.workers() {
		if w.sleeper.run.Load() == r {
			w.sleeper.wake(w)
		}
	}
}
