package executor

import "slices"

// init sets the levels of the worker's forks. Levels of different workers differ, so that Join can tell another
// worker's fork from the newest of its own.
func (f *forks) init(w *Worker) {
	f.w, f.pushes, f.rests = w, w.lane.StacksForks(), &f.never
	if wanted := partsOf(w).share.wanted; wanted != nil {
		f.rests = wanted
	}
	f.base = f.first()
	f.public, f.ground.level = f.base, f.base+1
	f.under = f.ground.address()
	w.lane.SetSlack(f.stack.slack())
}

// level returns the level of the newest fork in use, or base.
func (f *forks) level() uint64 {
	top := f.under
	if f.scope != nil {
		top = f.scope.top.address()
	}
	return forkAt(top).level - 1
}

// first returns the level of the worker without forks, the place of which is 0.
func (f *forks) first() uint64 { return uint64(f.w.id) << 40 }

// oldestPrivate returns the private fork that is not joined and has the lowest level. There is one if any fork is
// private: remove puts the newest fork out of use when it is joined, and before drop makes a joined one the newest,
// complete has published all.
func (f *forks) oldestPrivate() *fork {
	level := f.public + 1
	for {
		next, _ := f.at(level)
		if !next.joined {
			return next
		}
		level++
	}
}

// at returns the fork in use at the level, and its pool.
func (f *forks) at(level uint64) (*fork, pool) {
	for _, p := range f.pools {
		if next := p.at(placeOf(level)); next != nil {
			return next, p
		}
	}
	panic("executor: no fork is in use at this level: please report it")
}

// frameAt returns the stack frame that has made the fork in use at the level.
func (f *forks) frameAt(level uint64) uintptr {
	next, _ := f.at(level)
	return next.frame
}

// remove notes that gone has been joined, and puts the newest forks out of use, if they have been joined.
func (f *forks) remove(gone *fork) {
	gone.joined = true
	gone.generation |= checkedBit // a second Join then panics
	if gone.level < f.level() {
		// The fast path of Join leaves the forks below as they are. With the bit the next fork's Join comes here, so
		// that a loop that joins the oldest first takes no more levels with each iteration.
		next, _ := f.at(gone.level + 1)
		next.generation |= checkedBit
		f.early++
		return
	}
	f.pop(gone)
	for f.early > 0 && f.level() > f.base {
		top, _ := f.at(f.level())
		if !top.joined {
			break
		}
		f.early--
		f.pop(top)
	}
	f.public = min(f.public, f.level())
}

// pop puts the newest fork, which has been joined, out of use.
func (f *forks) pop(top *fork) {
	top.reset()
	f.scope.top.lower(top)
}

// drop puts the forks above level out of use, newest first. It first calls do for each that is not joined.
func (f *forks) drop(level uint64, do func(*fork)) {
	for f.level() > level {
		top, p := f.at(f.level())
		if top.joined {
			f.early--
		} else {
			do(top)
		}
		p.drop(placeOf(top.level))
		f.scope.top.lower(top)
		f.public = min(f.public, f.level())
	}
}

// forget drops the functions and bodies of the calls out of use and, without any scope in use, the pools that others
// have replaced. Each level that was used since the last forget has a call with a function in one pool at least, so
// forget stops at the first level without one.
func (f *forks) forget() {
	for level, had := f.level()+1, true; had; level++ {
		had = false
		for _, p := range f.pools {
			if p.forget(placeOf(level)) {
				had = true
			}
		}
	}
	if f.scope == nil && f.under == f.ground.address() { // no scope has the address of a call
		f.pools = slices.DeleteFunc(f.pools, pool.isReplaced)
	}
}

// reset puts a fork out of use, and makes it ready for its next use.
func (f *fork) reset() {
	f.generation = f.generation&^forkBits + 1
	f.frame = 0
	f.joined, f.own, f.skipped = false, false, false
	f.err, f.parent, f.from = nil, nil, 0
	if f.state.Load() != 0 {
		f.state.Store(0)
	}
}

// setOrigin notes that f was made in the call that s belongs to. Until then only f's owner knows f.
func (f *fork) setOrigin(s *Scope) {
	f.Body, f.parent, f.depth, f.from = s.body, s.fork, s.fork.depth+1, s.number
}

// comesFrom reports whether other is f or an ancestor of f. f has not begun and other has not ended. The ancestors of a
// fork that has not ended have not ended either, so the fields that comesFrom reads are constant.
func (f *fork) comesFrom(other *fork) bool {
	for f.depth > other.depth {
		f = f.parent
	}
	return f == other
}

// isOlder reports whether f, taken from the lane of w, was pushed before the lane had this mark. Another worker's fork
// counts as older.
func (f *fork) isOlder(w *Worker, mark uint64) bool {
	return f.owner != w || int64(f.mark-mark) < 0
}

// isOver reports whether f has been run. Owner only.
func (f *fork) isOver() bool { return f.own || f.state.Load()&forkDone != 0 }
