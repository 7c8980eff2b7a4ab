package executor

import "context"

// help runs items of r, and of runs nested in it, until r is over: what Wait does on a worker. The worker's stack holds
// the waiting task, so a foreign item must not be run here: it might want a lock that the task holds. A foreign item
// that the helper meets goes to the injector.
//
// If help has run any item, the goroutine has the given labels afterwards.
func (w *Worker) help(r *Run, labels context.Context) {
	w.core.attached.withheld.make(w)
	outer := w.enterNested(r, r.markOn(w), nil)
	outer.labels = labels
	w.core.attached.tellHelps(w, r)
	w.waits.helps++
	defer func() { // deferred: an item may call Goexit, and deferred functions of the waiting task then run
		w.waits.helps--
		w.lane.NoteEmpty() // foreign forks may have gone from the lane to the injector
		w.exitNested(outer)
	}()
	w.wait(r, waiter{outer.body, labels})
}

// maxDepth is how many helps there may be on a worker's stack. Each takes one to two kilobytes, besides the frames of
// the task itself. The runtime ends the process when a stack reaches a gigabyte, or a quarter of that on a 32-bit
// system.
const maxDepth = 4096

// maxNested is how many waits for children and futures there may be on a worker's stack: 32768, or 4096 on 32-bit
// systems. Each takes less than a kilobyte.
const maxNested = 1 << (12 + 3*(^uint(0)>>63))

// find implements awaited.
func (r *Run) find(w *Worker) found {
	if it := w.pop(); it != nil {
		return found{it: it}
	}
	return found{it: w.stealFor(r), stolen: true}
}

// run implements awaited. The worker leaves the body after each item: the run of that body ends when all have left it.
func (r *Run) run(w *Worker, next found, _ waiter) { w.exploit(next.it) }

// announce implements awaited.
func (r *Run) announce(w *Worker) {
	w.sleeper.run.Store(r)
	r.awaited.Add(1)
	w.core.sleepingHelpers.Add(1)
}

// withdraw implements awaited.
func (r *Run) withdraw(w *Worker) {
	w.core.sleepingHelpers.Add(-1)
	r.awaited.Add(-1)
	w.sleeper.run.Store(nil)
}

// findLast implements awaited.
func (r *Run) findLast(w *Worker) found { return found{it: w.findFor(r)} }

// findFor looks for an item of r or of a run nested in it, wherever there may be one.
func (w *Worker) findFor(r *Run) *Item {
	ex := w.core
	for _, p := range ex.injector.levels() {
		// Each item once: those put back come after the others of their priority.
		for range ex.injector.of(p).Len() {
			it := w.search.nextSubmitted(p)
			if it == nil {
				break
			}
			if it.Body.owner().isFor(r) {
				return it
			}
			ex.inject(it)
		}
	}
	if it := w.core.attached.takeHeld(w, r, nil); it != nil {
		return it
	}
	if it := popSunk(w, func(it *Item) bool { return it.Body.owner().isFor(r) }); it != nil {
		return it
	}
	return w.stealFor(r)
}

// stealFor looks for an item of r or of a run nested in it in the lanes of the workers that have run any, and of the
// worker whose task started r. Other lanes cannot hold one (I5).
func (w *Worker) stealFor(r *Run) *Item {
	ex := w.core
	visited := r.visited.Load()
	for v, victim := range ex.workers() {
		if v == w.id || visited&(1<<(v%64)) == 0 && victim != r.launcher.Get() {
			continue
		}
		for victim.lane.Ask() {
			it, _ := w.search.steal(victim)
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
