package executor

import "context"

// help runs items of r, and of runs nested in it, until r is over: what Wait does on a worker. The worker's stack holds
// the waiting task, so a foreign item must not be run here: it might want a lock that the task holds. A foreign item
// that the helper meets goes to the injector.
//
// If help has run any item, the goroutine has the given labels afterwards.
func (w *Worker) help(r *Run, labels context.Context) {
	w.forks.expose()
	outer := w.enterNested(r, w.markFor(r), nil)
	outer.labels = labels
	if w.leaps.waitsFor.Load() == nil {
		w.leaps.waitsFor.Store(r)
	}
	w.waits.helps++
	v := vigil{w: w}
	defer func() { // deferred: an item may call Goexit, and deferred functions of the waiting task then run
		v.resume(false)
		w.waits.helps--
		w.lane.NoteEmpty() // foreign forks may have gone from the lane to the injector
		w.exitNested(outer)
	}()
	for !r.over.Load() {
		it, stolen := w.pop(), false
		for it == nil && !r.over.Load() {
			if it = w.stealFor(r); it != nil {
				stolen = true
			} else if v.noteVain() {
				break
			}
		}
		if it == nil && !v.runMail() {
			it = w.sleepFor(r)
		}
		if it != nil {
			v.resume(stolen)
			w.exploit(it)
		}
	}
}

// maxDepth is how many helps there may be on a worker's stack. Each takes one to two kilobytes, besides the frames of
// the task itself. The runtime ends the process when a stack reaches a gigabyte, or a quarter of that on a 32-bit
// system.
const maxDepth = 4096

// maxNested is the same for waits for children and futures, which take less than a kilobyte each: 32768, or 4096 on
// 32-bit systems.
const maxNested = 1 << (12 + 3*(^uint(0)>>63))

// sleepFor sleeps until r is over or there may be an item for its helper. If its last look before the sleep finds an
// item, it returns the item.
func (w *Worker) sleepFor(r *Run) *Item {
	ex := w.ex
	w.shareLane() // a spare may stand in for the worker
	w.bringForward()
	w.state.Store(uint32(WorkerPreparing))
	w.sleeper.run.Store(r)
	r.awaited.Add(1)
	ex.sleepingHelpers.Add(1)
	// D1(help): announce, then look once more. Pairs with D1(push) and D1(finish).
	it := w.findFor(r)
	if it == nil && !r.over.Load() {
		w.sleepInWait()
	}
	ex.sleepingHelpers.Add(-1)
	r.awaited.Add(-1)
	w.sleeper.run.Store(nil)
	w.goOn(WorkerRunning)
	return it
}

// findFor looks for an item of r or of a run nested in it, wherever there may be one.
func (w *Worker) findFor(r *Run) *Item {
	ex := w.ex
	for _, p := range ex.injector.levels() {
		// Each item once: those put back come after the others of their priority.
		for range ex.injector.of(p).Len() {
			it := w.nextSubmitted(p)
			if it == nil {
				break
			}
			if it.Body.owner().isFor(r) {
				return it
			}
			ex.inject(it)
		}
	}
	if it := w.findHeld(r); it != nil {
		return it
	}
	return w.stealFor(r)
}

// stealFor looks for an item of r or of a run nested in it in the lanes of the workers that have run any, and of the
// worker whose task started r. Other lanes cannot hold one (I5).
func (w *Worker) stealFor(r *Run) *Item {
	ex := w.ex
	visited := r.visited.Load()
	for v, victim := range ex.workers() {
		if v == w.id || visited&(1<<(v%64)) == 0 && victim != r.launcher.Get() {
			continue
		}
		for victim.lane.Ask() {
			it, _ := w.steal(victim)
			if it == nil {
				continue // lost
			}
			if it.Body.owner().isFor(r) {
				return it
			}
			ex.inject(it)
		}
	}
	return nil
}
