package executor

// outerForks is what suspendForks saves and resumeForks restores of the forks of an item on top of which a worker runs
// others.
type outerForks struct {
	scope    *Scope
	lo       uintptr // of scope
	thrown   error
	joins    uint32
	waitsFor *Run
}

// suspendForks makes the scope of the item being run unusable until resumeForks.
func (w *Worker) suspendForks() outerForks {
	f := &w.forks
	o := outerForks{f.scope, 0, f.thrown, w.leaps.joins.Load(), w.leaps.waitsFor.Load()}
	f.thrown, f.scope = nil, nil
	if o.scope == nil {
		return o
	}
	o.lo, o.scope.lo = o.scope.lo, noStack // for check
	f.under = o.scope.top.address()
	if level := f.level(); (f.pushes || w.lane.KeepsForks()) && level > o.scope.level {
		newest, _ := f.at(level)
		newest.generation |= checkedBit // as published forks: a Join with the scope of another function then asks
	}
	return o
}

// resumeForks undoes suspendForks, and ends the Joins that have begun since.
func (w *Worker) resumeForks(o outerForks) {
	w.forks.scope, w.forks.thrown = o.scope, o.thrown
	if o.scope != nil && o.lo != noStack {
		o.scope.lo = w.forks.stack.lo // not o.lo: scopes on top may have changed it
	}
	if w.leaps.joins.Load() != o.joins {
		w.leaps.joins.Store(o.joins)
	}
	if w.leaps.waitsFor.Load() != o.waitsFor {
		w.leaps.waitsFor.Store(o.waitsFor)
	}
}
