package executor

import "context"

// outer is the state of a worker that enterNested saves and exitNested restores.
type outer struct {
	body   *Body
	run    *Run
	mark   uint64
	only   *Body
	labels context.Context
}

// enterNested lets the worker run items on top of the one being run: those of r and of runs nested in it or, if only is
// set, those of that body, and none below mark in its lane. Until exitNested the scope of the waiting item must not be
// used.
func (w *Worker) enterNested(r *Run, mark uint64, only *Body) outer {
	o := outer{w.body, w.waits.run, w.waits.mark, w.waits.only, w.labels.set}
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
}

// runWithin runs item it, and those of the items that it pushes that are of r or of a run nested in r or, if only is
// set, of that body.
func (w *Worker) runWithin(r *Run, only *Body, it *Item) {
	defer w.exitNested(w.enterNested(r, w.lane.Mark(), only))
	for ; it != nil; it = w.pop() {
		w.inner.run(w, it)
	}
}

// runOnly runs item it on top of the item that waits for it, and no item that it pushes.
func (w *Worker) runOnly(it *Item) {
	defer w.exitNested(w.enterNested(w.waits.run, w.waits.mark, w.waits.only))
	w.waits.nested++
	defer func() { w.waits.nested-- }()
	w.runOne(it)
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
		case waits.only == nil && it.Body.owner().isFor(r):
			return it
		}
		w.core.inject(it)
		waits.mark = w.lowered(waits.mark) // it may be lower, if thieves have taken items above it out of order
	}
	return nil
}
