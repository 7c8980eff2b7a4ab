package executor

import "github.com/magpie-go/magpie/deque"

// forks are what a worker has of fork-join: the forks and children that it has made and not joined, and the scopes in which it
// has. Owner only, plain.
type forks struct {
	w *Worker // constant: whose they are

	// level is the level of the newest fork that is in use, or base. Those up to public have been pushed to the lane,
	// in the order of their levels; the others are private.
	level, public uint64
	base          uint64 // the level when the innermost scope began; of a free worker, where its levels begin
	last          any    // the *callPool that was used last
	pools         []pool // all
	children      *child // free ones
	scopes        *Scope // free ones
	scope         *Scope // that of the function that runs; only it may be used
	stack         stack  // on which the worker runs
	takes         uint64 // forks taken, of other workers' and of none
	disorder      int    // forks that were joined before newer ones
	thrown        error  // what rethrow panicked with last
}

// init sets the levels of the worker's forks. Levels of different workers differ, so that Join tells another's fork from the
// newest.
func (f *forks) init(w *Worker) {
	f.w = w
	f.base = uint64(w.id) << 40
	f.level, f.public = f.base, f.base
}

// publish makes the private forks available to others, oldest first, and wakes somebody for them. If newest is set it is the
// newest, just made, and nothing need be done if there is no demand and enough to steal.
func (w *Worker) publish(newest *fork) {
	f := &w.forks
	if f.public == f.level || w.lane.KeepsForks() {
		w.tell(w.lane.Poll()) // for what else the lane has
		return
	}
	if newest != nil && !w.lane.Demand() && !w.lane.HasFew() {
		return
	}
	w.lane.Answer()
	shown := deque.Nothing
	for f.public < f.level {
		next := newest
		if next == nil || f.public+1 < f.level {
			next = f.oldestPrivate()
		}
		if next == nil {
			f.public = f.level // what is left of them was joined before newer ones
			break
		}
		f.public = next.level
		next.mark = w.lane.Mark()
		next.isFrom(f.scope)
		shown = max(shown, w.put(&next.Item))
	}
	w.lane.Answered()
	if !w.lane.IsDirect() {
		w.tell(shown)
		return
	}
	// D1(publish): as D1(push).
	if w.thieves.Load() == 0 && w.core.anyoneAsleep() {
		w.wakeForPushed()
	}
}

// expose is publish for a worker that is about to run something on top of the call in progress, or to wait: its joiner may
// come late. So the private forks are all of the scope that began last (I7).
func (f *forks) expose() {
	if f.public != f.level {
		f.w.publish(nil)
	}
}

// oldestPrivate is the private fork with the lowest level that is not joined, or nil.
func (f *forks) oldestPrivate() (oldest *fork) {
	for _, p := range f.pools {
		if next := p.oldestAbove(f.public); next != nil && (oldest == nil || next.level < oldest.level) {
			oldest = next
		}
	}
	return oldest
}

// remove takes a fork of that level, which has been released, out of account.
func (f *forks) remove(gone *fork, level uint64) {
	if gone.joined {
		f.disorder++ // it is not the newest of its pool
	}
	if level == f.level && f.disorder == 0 {
		f.level--
		f.scope.forker = gone.outer
	} else {
		f.recount()
	}
	f.public = min(f.public, f.level)
}

// recount finds out the level after forks were joined out of order.
func (f *forks) recount() {
	f.level, f.disorder = f.base, 0
	for _, p := range f.pools {
		if next := p.newest(); next != nil {
			f.level = max(f.level, next.level)
		}
		f.disorder += p.heldCount()
	}
	f.public = min(f.public, f.level)
}

// begin prepares the worker to run next, which it has taken from a lane.
func (f *forks) begin(next *fork) *Scope {
	w := f.w
	if next.owner != w {
		f.takes++
		next.state.Add(uint64(w.id+1) | f.takes<<forkTakes)
	}
	w.lane.NoteEmpty()
	s := f.scopes
	if s == nil {
		s = &Scope{w: w}
	} else {
		f.scopes = s.next
	}
	s.fork, s.body, s.run = next, next.Body, scopeRunOf(next.Body)
	f.scope = s
	s.level, s.base = f.level, f.base
	f.base = f.level // forks that were joined before newer ones may go meanwhile; those of s stay above the level all the same
	return s
}

// end ends a fork, after all that it has started.
func (f *forks) end(done *fork) {
	s := f.scope
	s.finish(s.level)
	done.skipped = done.skipped || s.skipped
	f.base, f.thrown = s.base, nil
	f.scope = nil
	s.fork, s.body, s.run, s.forker, s.skipped, s.next = nil, nil, nil, 0, false, f.scopes
	f.scopes = s
	owner := done.owner
	if owner == f.w {
		done.own = true
		return
	}
	if done.state.Swap(forkDone)&forkWaited != 0 {
		owner.sleeper.parker.Unpark()
	}
}

// drop puts the forks above level out of use, newest first, after do has been called for each.
func (f *forks) drop(level uint64, do func(*fork)) {
	for f.level > level {
		for _, p := range f.pools {
			if next := p.newest(); next != nil && next.level == f.level {
				if !next.joined {
					do(next)
				}
				p.drop()
				break
			}
		}
		f.recount()
	}
}

// complete sees to it that a fork has been run. Nobody will join it, so its failure is the run's.
func (f *forks) complete(left *fork) {
	w := f.w
	if left.level > f.public {
		left.isFrom(f.scope) // an inline worker publishes nothing
		w.publish(nil)       // or what the fork itself forks would do so, while it is run
	}
	if w.takeBack(left) {
		w.runWithin(left.Body.owner(), left.Body, &left.Item)
	}
	left.tellFailure()
}

// abandon ends what s has started, after a failure. Forks that nobody has taken are left out.
func (f *forks) abandon(s *Scope) {
	f.drop(s.level, func(left *fork) {
		if !f.w.takeBack(left) {
			left.tellFailure()
		}
	})
	if s.children != nil {
		_ = s.joinChildren()
	}
}

// rethrow ends the caller as the call that it joins has ended.
func (f *forks) rethrow(err error) {
	f.thrown = err
	if p, ok := err.(*PanicError); ok {
		panic(p.Value)
	}
	panic(err)
}

// rethrown returns the failure that the panic with value passes on, or nil.
func (f *forks) rethrown(value any) error {
	err := f.thrown
	f.thrown = nil
	if p, ok := err.(*PanicError); ok && isSame(p.Value, value) || err != nil && isSame(err, value) {
		return err
	}
	return nil
}

// isFrom notes that f was made in the call that s belongs to. Before, nobody but f's owner knows f.
func (f *fork) isFrom(s *Scope) { f.Body, f.parent, f.depth = s.body, s.fork, s.fork.depth+1 }

// comesFrom reports whether f, which has not begun, was made in the call of other, which has not ended, or in a call
// that was made there, and so on. Forks above one that has not ended have not ended: nobody changes what this reads.
func (f *fork) comesFrom(other *fork) bool {
	for f.depth > other.depth {
		f = f.parent
	}
	return f == other
}

// isOlder reports whether f, out of the lane of w, was there already when that had this mark.
func (f *fork) isOlder(w *Worker, mark uint64) bool {
	return f.owner != w || int64(f.mark-mark) < 0
}

// isDone is for the owner.
func (f *fork) isDone() bool { return f.own || f.state.Load()&forkDone != 0 }

// tellFailure makes the failure of f, which nobody joins, the run's.
func (f *fork) tellFailure() {
	r := scopeRunOf(f.Body)
	r.pass(f, nil)
	if f.err != nil {
		r.fail(nil, f.err, false)
	}
}
