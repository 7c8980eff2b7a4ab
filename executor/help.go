package executor

import (
	"context"

	"github.com/magpie-go/magpie/deque"
)

// help runs items of r, and of runs nested in it, until r is over: what Wait does on a worker. The worker's stack holds
// the task that waits, so a foreign item must not be run here: it might want a lock that task holds. One that is met on
// the way goes to the injector, for workers that are free.
//
// If it has run anything, the goroutine has labels afterwards.
func (w *Worker) help(r *Run, labels context.Context) {
	w.exposeForks()
	put := w.goInside(r, w.floorFor(r), nil)
	put.labels = labels
	if w.waitsFor.Load() == nil {
		w.waitsFor.Store(r)
	}
	w.depth++
	defer func() { // an item may call Goexit; deferred functions of the waiting task will then run
		w.depth--
		w.noteEmpty() // forks that were in its deque have gone to the injector
		w.comeOut(put)
	}()
	for !r.over.Load() {
		it := w.pop()
		for spins := 0; it == nil && spins < helpSpins && !r.over.Load(); spins++ {
			it = w.stealFor(r)
		}
		if it == nil {
			it = w.sleepFor(r)
		}
		if it != nil {
			w.exploit(it)
		}
	}
}

// maxDepth is how many helps there may be on a worker's stack. A level takes one to two kilobytes, and what the task itself
// has; the runtime ends the process at a gigabyte, or a quarter of that on a 32-bit system.
const maxDepth = 4096

// maxNested is the same for children and futures, which take less than a kilobyte each: 32768, or 4096 on 32-bit systems.
const maxNested = 1 << (12 + 3*(^uint(0)>>63))

// noFloor is no deque's bottom: those are even.
const noFloor = 1

// floorFor is the index below which the worker's own deque cannot hold items of r.
func (w *Worker) floorFor(r *Run) uint64 {
	switch {
	case r.visited.Load()&w.bit() != 0:
		return noFloor // it has run items of r, which may have pushed others anywhere
	case r.launcher.Get() == w:
		return w.lowered(r.mark)
	default:
		return w.bottom()
	}
}

// lowered is the floor, or the deque's bottom if that has come to be below: what was above is gone, and a bottom that met
// the floor on its way up again would have items below that are to be run.
func (w *Worker) lowered(floor uint64) uint64 {
	if bottom := w.bottom(); floor != noFloor && int64(bottom-floor) < 0 {
		return bottom
	}
	return floor
}

// popFor takes the worker's newest item of r or of a run nested in it, or of the only body that it is to run.
func (w *Worker) popFor(r *Run) *Item {
	// Once r is over nothing more is run here, also not of runs that it has left behind.
	for !r.over.Load() && (w.bottom() != w.floor || w.fifo) {
		it := w.popOwn()
		switch {
		case it == nil:
			return nil
		case w.only != nil && it.Body == w.only && !forkOf(it).isOlder(w, w.floor):
			return it
		case w.only == nil && it.Body.Run().isWithin(r):
			return it
		}
		w.ex.inject(it)
		w.floor = w.lowered(w.floor) // if thieves had what lay above, out of order
	}
	return nil
}

// sleepFor sleeps until r is over or there may be an item for its helper. It returns an item if it found one on the
// last look.
func (w *Worker) sleepFor(r *Run) *Item {
	ex := w.ex
	w.bringForward()
	w.state.Store(uint32(preparing))
	w.helping.Store(r)
	r.awaited.Add(1)
	ex.sleepingHelpers.Add(1)
	// D1(help): announce, then look once more. Pairs with D1(push) and D1(finish).
	it := w.findFor(r)
	if it == nil && !r.over.Load() {
		w.sleepInWait()
	}
	ex.sleepingHelpers.Add(-1)
	r.awaited.Add(-1)
	w.helping.Store(nil)
	w.state.Store(uint32(running))
	return it
}

// findFor looks for an item of r or of a run nested in it, wherever there may be one.
func (w *Worker) findFor(r *Run) *Item {
	ex := w.ex
	// Each item once round; those put back come after what was there.
	for range ex.injector.len() {
		it, outcome := w.stealFrom(w.id)
		for outcome == deque.Lost { // the helper must not sleep beside the next
			it, outcome = w.stealFrom(w.id)
		}
		if it == nil {
			break
		}
		if it.Body.Run().isWithin(r) {
			return it
		}
		ex.inject(it)
	}
	return w.stealFor(r)
}

// stealFor looks for such an item in the deques of the workers that have run any, and of the one whose task started the
// run. Others cannot hold one.
func (w *Worker) stealFor(r *Run) *Item {
	ex := w.ex
	visited := r.visited.Load()
	for v, victim := range ex.crew() {
		if v == w.id || visited&(1<<(v%64)) == 0 && victim != r.launcher.Get() {
			continue
		}
		for victim.offers() {
			it, _ := w.stealFrom(v)
			if it == nil {
				continue // lost
			}
			if it.Body.Run().isWithin(r) {
				return it
			}
			ex.inject(it)
		}
	}
	return nil
}

// wakeHelpers wakes the helpers, asleep, that may run items of run pushed, or of any run if it is nil, that are in the
// deque of worker by, or anywhere if that is nil.
func (ex *Executor) wakeHelpers(pushed *Run, by *Worker) {
	for _, w := range ex.crew() {
		if from := w.leapsFrom.Load(); from != 0 && by != nil && from&by.bit() == 0 {
			continue
		}
		if r := w.helping.Load(); r != nil && (pushed == nil || pushed.isWithin(r)) {
			w.wakeHelper()
		}
	}
}

// wakeHelpersOf wakes the helpers that wait for r's end.
func (ex *Executor) wakeHelpersOf(r *Run) {
	for _, w := range ex.crew() {
		if w.helping.Load() == r {
			w.wakeHelper()
		}
	}
}
