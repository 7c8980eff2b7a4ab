package executor

import (
	"context"

	"github.com/magpie-go/magpie/internal/park"
	"github.com/magpie-go/magpie/internal/xatomic"
)

// outer is what a worker puts aside while it runs other items on top of the one that waits.
type outer struct {
	body     *Body
	run      *Run
	mark     uint64
	only     *Body
	scope    *Scope
	forker   uintptr // of scope
	joins    uint32
	waitsFor *Run
	thrown   error
	state    uint32
	labels   context.Context
}

// enterNested lets the worker run items on top of the one being run: of r and of runs nested in it or, if only is set, of that
// body, and none that lies below mark in its lane. Until exitNested nobody may use the scope of the one that waits.
func (w *Worker) enterNested(r *Run, mark uint64, only *Body) outer {
	f := &w.forks
	o := outer{
		w.body, w.waits.run, w.waits.mark, w.waits.only, f.scope, 0,
		w.leaps.joins.Load(), w.leaps.waitsFor.Load(), f.thrown, w.state.Load(), w.labels.set,
	}
	f.thrown = nil
	w.waits.run, w.waits.mark, w.waits.only, f.scope = r, mark, only, nil
	if o.scope != nil {
		o.forker, o.scope.forker = o.scope.forker, 0 // for check
	}
	return o
}

// exitNested undoes enterNested.
func (w *Worker) exitNested(o outer) {
	w.waits.run, w.waits.mark, w.waits.only, w.forks.scope = o.run, w.lowered(o.mark), o.only, o.scope
	w.forks.thrown = o.thrown
	if o.scope != nil {
		o.scope.forker = o.forker
	}
	if w.body != o.body {
		w.turnTo(o.body, o.labels)
	}
	if w.leaps.joins.Load() != o.joins {
		w.leaps.joins.Store(o.joins)
	}
	if w.leaps.waitsFor.Load() != o.waitsFor {
		w.leaps.waitsFor.Store(o.waitsFor)
	}
	w.state.Store(o.state)
}

// runDownTo runs what lies above mark in the worker's lane and is of body, newest first.
func (w *Worker) runDownTo(body *Body, mark uint64) {
	defer w.exitNested(w.enterNested(body.owner(), mark, body))
	for it := w.pop(); it != nil; it = w.pop() {
		w.runItems(w, it)
	}
}

// runWithin runs it, and of what it leaves behind that of r and of runs nested in it or, if only is set, of that body.
func (w *Worker) runWithin(r *Run, only *Body, it *Item) {
	defer w.exitNested(w.enterNested(r, w.lane.Mark(), only))
	for ; it != nil; it = w.pop() {
		w.runItems(w, it)
	}
}

// noMark is no lane's mark.
const noMark = ^uint64(0)

// markFor is the mark below which the worker's own lane cannot hold items of r.
func (w *Worker) markFor(r *Run) uint64 {
	switch {
	case r.visited.Load()&w.bit() != 0:
		return noMark // it has run items of r, which may have pushed others anywhere
	case r.launcher.Get() == w:
		return w.lowered(r.mark)
	default:
		return w.lane.Mark()
	}
}

// lowered is the mark, or the lane's if that has come to be below: what was above is gone, and a lane that met the mark on its
// way up again would have items below that are to be run.
func (w *Worker) lowered(mark uint64) uint64 {
	if now := w.lane.Mark(); mark != noMark && int64(now-mark) < 0 {
		return now
	}
	return mark
}

// limit is the mark below which a lane that pops in any order is not to pop.
func (w *Worker) limit() uint64 {
	if w.waits.mark == noMark {
		return 0
	}
	return w.waits.mark
}

// popFor takes the worker's newest item of r or of a run nested in it, or of the only body that it is to run.
func (w *Worker) popFor(r *Run) *Item {
	waits := &w.waits
	// Once r is over nothing more is run here, also not of runs that it has left behind.
	for !r.over.Load() && (w.lane.Mark() != waits.mark || w.lane.IsFIFO()) {
		it := w.popOwn()
		switch {
		case it == nil:
			return nil
		case waits.only != nil && it.Body == waits.only && !forkOf(it).isOlder(w, waits.mark):
			return it
		case waits.only == nil && it.Body.owner().isWithin(r):
			return it
		}
		w.ex.inject(it)
		waits.mark = w.lowered(waits.mark) // if thieves had what lay above, out of order
	}
	return nil
}

// A sleeper is where a worker sleeps in a wait: in help, in a Join, or for a future.
type sleeper struct {
	run    xatomic.Pointer[Run] // what the worker, asleep or about to be, helps with
	parker park.Parker
}

// sleepInWait sleeps until the worker's sleeper is woken, for what the worker waits for. If a worker blocks, a spare takes the
// place of the one that sleeps, which nobody wakes for anything else.
func (w *Worker) sleepInWait() {
	w.counts.parks++
	w.state.Store(uint32(parked))
	if !w.blocking { // else it has a spare already
		w.ex.spares.Sleep()
		defer w.ex.spares.Wake()
	}
	w.sleeper.sleep(w)
	w.counts.wakeups++
}

// sleep sleeps until wake is called, which may have been before.
func (s *sleeper) sleep(w *Worker) {
	if w.inline == nil {
		s.parker.Park()
		return
	}
	w.inline.sleep()
}

// wake lets w, whose sleeper s is, go on from sleep, or return from the next at once. Any thread.
func (s *sleeper) wake(w *Worker) {
	if w.inline == nil {
		s.parker.Unpark()
		return
	}
	w.inline.wake()
}
