package executor

// takeBack returns true if no other worker has taken f, which the caller then runs or drops; otherwise it waits until f
// is done and returns false. It first runs the forks and children that lie above f in the lane.
func (own *forks) takeBack(f *fork) bool {
	w := own.w
	if f.level > own.public {
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
			w.core.inject(it)
			continue
		}
		own.expose()
		w.runWithin(it.Body.owner(), it.Body, it)
	}
	own.expose()
	own.await(f) // f may also be in the injector, or taken by a thief and not begun
	return false
}

// runDownTo runs the items of body that lie above mark in the worker's lane, newest first.
func (own *forks) runDownTo(body *Body, mark uint64) {
	w := own.w
	defer w.exitNested(w.enterNested(body.owner(), mark, body))
	for it := w.pop(); it != nil; it = w.pop() {
		w.inner.run(w, it)
	}
}

// await waits until f, which is not in the worker's lane, is done. Meanwhile the worker runs what f has forked and
// started.
func (own *forks) await(f *fork) {
	w := own.w
	if f.isOver() {
		return
	}
	r := f.Body.owner()
	outer := w.enterNested(r, w.lane.Mark(), f.Body)
	defer w.exitNested(outer)
	partsOf(w).leaps.begin(f, own.takes)
	if w.core.sleepingHelpers.Load() > 0 {
		// D1(leapfrog): write leaps, then look for joiners that sleep and may take w's items. Pairs with D1(await).
		// Such a joiner can now go on to the worker that has f.
		w.core.wakeHelpers(r, w)
	}
	w.wait(f, waiter{outer.body, outer.labels})
}

// find implements awaited.
func (f *fork) find(w *Worker) found {
	if it := w.pop(); it != nil {
		return found{it: it}
	}
	it, within, _ := forksOf(w).leapfrog(f)
	return found{it, within, true}
}

// run implements awaited.
func (f *fork) run(w *Worker, next found, task waiter) {
	if next.within != nil {
		w.runWithin(next.within, nil, next.it)
		return
	}
	w.inner.run(w, next.it)
	if w.body != task.body {
		w.switchTo(task.body, task.labels) // the item failed, and failed left the body
	}
}

// announce implements awaited.
func (f *fork) announce(w *Worker) {
	w.sleeper.run.Store(f.Body.owner())
	w.core.sleepingHelpers.Add(1)
	f.state.Or(forkWaited)
}

// findLast implements awaited.
func (f *fork) findLast(w *Worker) found {
	it, within, from := forksOf(w).leapfrog(f)
	if it == nil {
		it = forksOf(w).retrieve(f)
	}
	w.sleeper.from.Store(from)
	return found{it: it, within: within}
}

// withdraw implements awaited.
func (f *fork) withdraw(w *Worker) {
	w.sleeper.from.Store(0)
	w.core.sleepingHelpers.Add(-1)
	w.sleeper.run.Store(nil)
	for state := f.state.Load(); state&forkDone == 0 && !f.state.CompareAndSwap(state, state&^forkWaited); {
		state = f.state.Load()
	}
}

// retrieve takes f out of the injector, if it is there: a worker that met it while waiting for something else has put
// it there. On an inline worker f may also be in the lane.
func (own *forks) retrieve(f *fork) *Item {
	w := own.w
	if it := w.core.attached.takeHeld(w, f.Body.owner(), &f.Item); it != nil {
		return it
	}
	if it := popSunk(w, func(it *Item) bool { return it == &f.Item }); it != nil {
		return it
	}
	p := f.Body.level()
	for range w.core.injector.of(p).Len() {
		if f.state.Load()&^forkWaited != 0 {
			return nil
		}
		it := w.search.nextSubmitted(p)
		if it == nil || it == &f.Item {
			return it
		}
		w.core.inject(it)
	}
	return nil
}
