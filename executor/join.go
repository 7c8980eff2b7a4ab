package executor

// takeBack returns true if no other worker has taken f, which the caller then runs or drops; otherwise it waits until f
// is done and returns false. It first runs the forks and children that lie above f in the lane.
func (w *Worker) takeBack(f *fork) bool {
	if f.level > w.forks.public {
		return true // private
	}
	for !f.own && f.state.Load() == 0 && int64(w.lane.Mark()-f.mark) > 0 {
		it := w.popOwn()
		w.lane.NoteEmpty()
		if it == &f.Item {
			return true
		}
		if it == nil {
			break
		}
		if it.Body != f.Body || forkOf(it).isOlder(w, f.mark) {
			// The item is of a run or future that was started after f, or it is older than f, as may happen where
			// thieves do not take the oldest first. It must not run here: it might want a lock that the joiner holds.
			w.ex.inject(it)
			continue
		}
		w.forks.expose()
		w.runWithin(it.Body.owner(), it.Body, it)
	}
	w.forks.expose()
	w.await(f) // f may also be in the injector, or taken by a thief and not begun
	return false
}

// await waits until f, which is not in the worker's lane, is done. Meanwhile the worker runs what f has forked and
// started.
func (w *Worker) await(f *fork) {
	if f.isDone() {
		return
	}
	r := f.Body.owner()
	outer := w.enterNested(r, w.lane.Mark(), f.Body)
	defer w.exitNested(outer)
	w.leaps.begin(f, w.forks.takes)
	if w.core.sleepingHelpers.Load() > 0 {
		// D1(leapfrog): write leaps, then look for joiners that sleep and may take w's items. Pairs with D1(join). Such
		// a joiner can now go on to the worker that has f.
		w.ex.wakeHelpers(r, w)
	}
	v := vigil{w: w}
	defer func() { v.resume(false) }() // a letter may call Goexit
	for !f.isDone() {
		it, stolen := w.pop(), false
		var within *Run
		if it == nil {
			it, within, _ = w.leapfrog(f)
			stolen = it != nil
		}
		if it == nil && v.noteVain() && !v.runMail() {
			it, within = w.sleepOn(f, r)
		}
		if it == nil {
			continue
		}
		v.resume(stolen)
		if within != nil {
			w.runWithin(within, nil, it)
		} else {
			w.inner.run(w, it)
			if w.body != outer.body {
				w.switchTo(outer.body, outer.labels) // the item failed, and failed left the body
			}
		}
	}
}

// sleepOn sleeps until f is done or there may be an item that comes from f. If its last look before the sleep finds an
// item, it returns that as leapfrog does.
func (w *Worker) sleepOn(f *fork, r *Run) (it *Item, within *Run) {
	ex := w.ex
	w.shareLane() // a spare may stand in for the worker
	w.bringForward()
	w.state.Store(uint32(WorkerPreparing))
	w.sleeper.run.Store(r)
	ex.sleepingHelpers.Add(1)
	// D1(join): announce, then look once more. Pairs with D1(push), and with the Swap in forks.end.
	f.state.Or(forkWaited)
	it, within, from := w.leapfrog(f)
	if it == nil {
		it = w.retrieve(f)
	}
	w.leaps.from.Store(from)
	if it == nil && !f.isDone() {
		w.sleepInWait()
	}
	w.leaps.from.Store(0)
	ex.sleepingHelpers.Add(-1)
	w.sleeper.run.Store(nil)
	w.goOn(WorkerRunning)
	for {
		state := f.state.Load()
		if state&forkDone != 0 || f.state.CompareAndSwap(state, state&^forkWaited) {
			return it, within
		}
	}
}

// retrieve takes f out of the injector, if it is there: a worker that met it while waiting for something else has put
// it there.
func (w *Worker) retrieve(f *fork) *Item {
	if it := w.retrieveHeld(f); it != nil {
		return it
	}
	p := f.Body.level()
	for range w.ex.injector.of(p).Len() {
		if f.state.Load()&^forkWaited != 0 {
			return nil
		}
		it := w.nextSubmitted(p)
		if it == nil || it == &f.Item {
			return it
		}
		w.ex.inject(it)
	}
	return nil
}
