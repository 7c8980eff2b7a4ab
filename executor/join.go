package executor

import "github.com/magpie-go/magpie/deque"

// takeBack makes f the worker's own again and returns true, or waits until the worker that has taken it is done and returns
// false. Forks and children that are newer than f, and in the lane above it, are run before.
func (w *Worker) takeBack(f *fork) bool {
	if f.level > w.forks.public {
		return true // private, and not the newest
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
			// Of a run or future that was started after f; or older than f, where thieves do not take the oldest first. It
			// might want a lock that the joiner holds.
			w.ex.inject(it)
			continue
		}
		w.forks.expose()
		w.runWithin(it.Body.owner(), it.Body, it)
	}
	w.forks.expose()
	w.await(f) // also when it is in the injector, or in the hands of a thief who has not begun
	return false
}

// await waits until f, which another worker has, is done. Meanwhile the worker runs what f has forked and started.
func (w *Worker) await(f *fork) {
	if f.isDone() {
		return
	}
	r := f.Body.owner()
	outer := w.enterNested(r, w.lane.Mark(), f.Body)
	defer w.exitNested(outer)
	w.leaps.begin(f, w.forks.takes)
	if w.core.sleepingHelpers.Load() > 0 {
		// D1(leapfrog): leaps, then look for joiners that wait for what w has. Pairs with D1(join): they can go on to the
		// worker that has f.
		w.ex.wakeHelpers(r, w)
	}
	for spins := 0; !f.isDone(); spins++ {
		it := w.pop()
		var within *Run
		if it == nil {
			it, within, _ = w.leapfrog(f)
		}
		if it == nil && spins >= helpSpins {
			it, within = w.sleepOn(f, r)
			spins = 0
		}
		if it == nil {
			continue
		}
		if within != nil {
			w.runWithin(within, nil, it)
		} else {
			w.runItems(w, it)
			if w.body != outer.body {
				w.turnTo(outer.body, outer.labels) // it has failed
			}
		}
		spins = 0
	}
}

// sleepOn sleeps until f is done or there may be something to do that comes from it. It returns an item if it found one
// on the last look.
func (w *Worker) sleepOn(f *fork, r *Run) (it *Item, within *Run) {
	ex := w.ex
	w.bringForward()
	w.state.Store(uint32(preparing))
	w.sleeper.run.Store(r)
	ex.sleepingHelpers.Add(1)
	// D1(join): announce, then look once more. Pairs with D1(push), and with the exchange in end.
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
	w.state.Store(uint32(running))
	for {
		state := f.state.Load()
		if state&forkDone != 0 || f.state.CompareAndSwap(state, state&^forkWaited) {
			return it, within
		}
	}
}

// retrieve takes f out of the injector, if it is there: a worker that waited for something else has met it.
func (w *Worker) retrieve(f *fork) *Item {
	for range w.ex.injector.len() {
		if f.state.Load()&^forkWaited != 0 {
			return nil
		}
		it, outcome := w.takeSubmitted()
		for outcome == deque.Lost {
			it, outcome = w.takeSubmitted()
		}
		if it == nil || it == &f.Item {
			return it
		}
		w.ex.inject(it)
	}
	return nil
}
