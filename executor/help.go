package executor

import (
	"context"
)

// help runs items of r, and of runs nested in it, until r is over: what Wait does on a worker. The worker's stack holds
// the waiting task, so a foreign item must not be run here: it might want a lock that the task holds. A foreign item
// that the helper meets goes to the injector.
//
// If help has run any item, the goroutine has the given labels afterwards.
func (w *Worker) help(r *Run, labels context.Context) { w.helpUntil(r, r, labels) }

// helpUntil is help until x is over, which is r or a state of it.
func (w *Worker) helpUntil(x awaited, r *Run, labels context.Context) {
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
	w.wait(x, waiter{outer.body, labels})
}

// maxDepth is how many helps there may be on a worker's stack. Each takes one to two kilobytes, besides the frames of
// the task itself. The runtime ends the process when a stack reaches a gigabyte, or a quarter of that on a 32-bit
// system.
const maxDepth = 4096

// maxNested is how many waits for children and futures, and ends of calls that are not joined, there may be on a
// worker's stack: 32768, or 4096 on 32-bit systems. Each takes less than two kilobytes.
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

// outer is the state of a worker that enterNested saves and exitNested restores.
type outer struct {
	body   *Body
	run    *Run
	mark   uint64
	only   *Body
	labels context.Context
	items  uint64 // counts.items
}

// enterNested lets the worker run items on top of the one being run: those of r and of runs nested in it or, if only is
// set, those of that body, and none below mark in its lane. Until exitNested the scope of the waiting item must not be
// used.
func (w *Worker) enterNested(r *Run, mark uint64, only *Body) outer {
	o := outer{w.body, w.waits.run, w.waits.mark, w.waits.only, w.labels.set, w.counts.items}
	w.counts.passPoll()
	w.waits.run, w.waits.mark, w.waits.only = r, mark, only
	w.core.attached.nested.make(w)
	return o
}

// exitNested undoes enterNested.
func (w *Worker) exitNested(o outer) {
	w.waits.run, w.waits.mark, w.waits.only = o.run, w.lowered(o.mark), o.only
	w.core.attached.unnested.make(w)
	if w.body != o.body {
		w.switchTo(o.body, o.labels)
	}
	if w.counts.pollAgain(o.items) && w.seen.asked.Load() != 0 {
		w.seen.asked.Store(0)
		w.publishCounts() // with the item that waits, as switchTo has
	}
}

// pollAgain makes up for a poll that has come since the item with that number, while the worker ran items on top of
// another: it did not look at the injector there. The worker polls before its next item. Otherwise a worker all of
// whose polls come there would never look. pollAgain reports whether one has come.
func (c *counts) pollAgain(since uint64) bool {
	if c.items/pollInterval == since/pollInterval {
		return false
	}
	skipped := pollInterval - 1 - c.items%pollInterval
	c.items += skipped
	c.overhead += skipped
	return true
}

// passPoll keeps the next item, if a poll is to come before it, from taking that poll: it runs on top of another. The
// poll is made up for later, see pollAgain. Otherwise each wait of a long item would have a poll of its own.
func (c *counts) passPoll() {
	if c.items%pollInterval == pollInterval-1 {
		c.items++
		c.overhead++
	}
}

// runWithin runs item it, and those of the items that it pushes that are of r or of a run nested in r or, if only is
// set, of that body.
func (w *Worker) runWithin(r *Run, only *Body, it *Item) {
	defer w.exitNested(w.enterNested(r, w.lane.Mark(), only))
	for ; it != nil; it = w.pop() {
		w.inner.run(w, it)
	}
}

// popSunk takes an item for which is returns true from the lane of an inline worker, also from below the wait's mark:
// items may have sunk there.
func popSunk(w *Worker, is func(*Item) bool) *Item {
	it := w.lane.Take(is)
	if it != nil {
		w.waits.mark = w.lowered(w.waits.mark)
	}
	return it
}

// noMark stands for no mark: items of any age may be run. No lane reaches it.
const noMark = ^uint64(0)

// markOn returns the mark below which the worker's own lane has no items of r, or noMark if it is not known.
func (r *Run) markOn(w *Worker) uint64 {
	switch {
	case r.visited.Load()&w.bit() != 0:
		return noMark // the worker has run items of r, which may have pushed others at any mark
	case r.launcher.Get() == w:
		return w.lowered(r.mark)
	default:
		return w.lane.Mark()
	}
}

// lowered returns mark or the lane's current mark, whichever is lower. If the lane's is lower, everything above mark is
// gone, and items that the worker pushes next lie below mark although they may be run.
func (w *Worker) lowered(mark uint64) uint64 {
	if now := w.lane.Mark(); mark != noMark && int64(now-mark) < 0 {
		return now
	}
	return mark
}

// limit is the mark below which a lane that pops in any order must not pop.
func (w *waits) limit() uint64 {
	if w.mark == noMark {
		return 0
	}
	return w.mark
}

// popFor takes the worker's newest item of r or of a run nested in it or, if waits.only is set, of that body. It
// injects other items that it meets.
func (w *Worker) popFor(r *Run) *Item {
	waits := &w.waits
	// Once r is over nothing more is run here, not even items of runs that were nested in it and go on.
	for !r.over.Load() && (w.lane.Mark() != waits.mark || w.lane.IsFIFO()) {
		it := w.popOwn()
		switch {
		case it == nil:
			return nil
		case waits.only != nil && it.Body == waits.only && !it.Body.hooks.(singler).isOlder(it, w, waits.mark):
			return it
		case waits.only == nil && (it.Body.owner() == r || it.Body.owner().isFor(r)):
			return it
		}
		w.inject(it)
		waits.mark = w.lowered(waits.mark) // it may be lower, if thieves have taken items above it out of order
	}
	return nil
}
