package executor

// attachForks has the kernel make way for what forks need.
func attachForks(on *attachments) {
	on.moved.add(func(w *Worker) { forksOf(w).stack = stack{} })
	on.withheld.add(func(w *Worker) { forksOf(w).expose() })
	on.nested.add(func(w *Worker) { forksOf(w).suspend() })
	on.unnested.add(func(w *Worker) { forksOf(w).resume() })
	on.helps = append(on.helps, func(w *Worker, r *Run) {
		if waitsFor := &partsOf(w).leaps.waitsFor; waitsFor.Load() == nil {
			waitsFor.Store(r)
		}
	})
	on.thrown = append(on.thrown, func(w *Worker, value any) error { return forksOf(w).thrown.caught(value) })
}

// suspend makes the scope of the item being run unusable until resume.
func (f *forks) suspend() {
	w, leaps := f.w, &partsOf(f.w).leaps
	o := outerForks{f.scope, 0, f.thrown, leaps.joins.Load(), leaps.waitsFor.Load()}
	f.thrown, f.scope = thrown{}, nil
	if o.scope != nil {
		o.lo, o.scope.lo = o.scope.lo, noStack // for check
		f.under = o.scope.top.address()
		if level := f.level(); (f.pushes || w.lane.KeepsForks()) && level > o.scope.level {
			newest, _ := f.at(level)
			newest.generation |= checkedBit // as published forks: a Join with the scope of another function then asks
		}
	}
	f.outer = append(f.outer, o)
}

// resume undoes suspend, and ends the Joins that have begun since.
func (f *forks) resume() {
	last := len(f.outer) - 1
	o := f.outer[last]
	f.outer[last] = outerForks{} // it would keep the scope and the run alive
	f.outer = f.outer[:last]
	f.scope, f.thrown = o.scope, o.thrown
	if o.scope != nil && o.lo != noStack {
		o.scope.lo = f.stack.lo // not o.lo: scopes on top may have changed it
	}
	leaps := &partsOf(f.w).leaps
	if leaps.joins.Load() != o.joins {
		leaps.joins.Store(o.joins)
	}
	if leaps.waitsFor.Load() != o.waitsFor {
		leaps.waitsFor.Store(o.waitsFor)
	}
}
