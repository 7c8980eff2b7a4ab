package executor

import (
	"slices"

	"github.com/magpie-go/magpie/deque"
	"github.com/magpie-go/magpie/internal/xatomic"
)

// forks is a worker's fork-join state: the forks that the worker has made and not joined, the scopes in use, and free
// lists. Owner only, plain.
type forks struct {
	w      *Worker       // the owner; constant
	pushes bool          // forks are pushed at once; constant
	rests  *xatomic.Bool // the word of sharer.isWanted or, without a sharer, never; constant
	never  xatomic.Bool  // never true

	// There is a fork in use at each level above the worker's first one and below that of the top of scope or, if that
	// is nil, of under. Those up to public have been pushed to the lane, in the order of their levels; the others are
	// private.
	public   uint64
	base     uint64       // the level when the innermost scope began; outside scopes, the worker's first level
	scope    *Scope       // of the running function; no other may be used
	under    uintptr      // the top's address if scope is nil
	ground   fork         // what under is when there are no forks
	pools    []pool       // the newest first, also those that were replaced and that a scope in use may go on in
	children *child       // free list
	scopes   *Scope       // free list
	stack    stack        // the stack on which the worker runs
	begun    uint64       // the number of scopes that have begun
	takes    uint64       // the number of forks taken that belong to another worker or to none
	early    int          // the number of forks in use that were joined before newer ones
	thrown   thrown       // the failure of a call that was joined
	outer    []outerForks // of the items that wait on the worker's stack, the innermost last
}

// forksOf returns the forks of worker w.
func forksOf(w *Worker) *forks { return &partsOf(w).forks }

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

// attend is called at a Fork or Join if there is demand, or little to steal.
func (f *forks) attend() {
	w := f.w
	if partsOf(w).share.isWanted() {
		partsOf(w).share.Rest()
	}
	f.publish()
}

// attendIfAsked is called where a task may have run for long without a Fork or Join.
func (f *forks) attendIfAsked() {
	w := f.w
	if w.lane.Demand() || partsOf(w).share.isWanted() {
		f.attend()
	}
}

// attendIfFew is called at the second Fork of a frame if there may be little to steal.
//
//go:noinline
func attendIfFew(w *Worker) {
	if w.lane.HasFew() {
		forksOf(w).attend()
	}
}

// publish pushes the private forks, oldest first, and wakes a worker for them if there is no thief.
func (f *forks) publish() {
	w := f.w
	if f.public == f.level() || w.lane.KeepsForks() {
		w.tell(w.lane.Poll()) // the lane may have other items
		return
	}
	w.lane.Answer()
	shown := deque.Nothing
	for f.public < f.level() {
		next := f.oldestPrivate()
		f.public = next.level
		next.mark = w.lane.Mark()
		next.setOrigin(f.scope)
		next.generation |= checkedBit
		shown = max(shown, w.put(&next.Item))
	}
	w.lane.Answered()
	if !w.lane.IsDirect() {
		w.tell(shown)
		return
	}
	// D1(publish): as D1(push).
	if w.search.thieves.Load() == 0 && w.core.anyoneAsleep() {
		w.wakeForPushed()
	}
}

// pushFork pushes a fork that is to be pushed at once, as all older ones were, where the near end does not take it. It
// wakes a worker if there is no thief.
func (f *forks) pushFork(next *fork) {
	w := f.w
	if !w.lane.IsDirect() {
		w.pushAside(&next.Item)
		return
	}
	w.lane.PushDirect(&next.Item)
	// D1(publish): as D1(push).
	if w.search.thieves.Load() == 0 && w.core.anyoneAsleep() {
		w.wakeForPushed()
	}
}

// expose publishes all private forks. It is called before the worker runs something on top of the call in progress or
// waits, because the call may then join its forks late. So all private forks are of the scope that began last (I7).
func (f *forks) expose() {
	if f.public != f.level() {
		f.publish()
	}
}

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

// beginTaken prepares the worker to run next, which it has taken from a lane.
func (f *forks) beginTaken(next *fork) *Scope {
	w := f.w
	if next.owner != w && next.owner != nil { // else nobody asks: a root is not joined
		f.takes++
		next.state.Add(uint64(w.id+1) | f.takes<<forkTakes)
	}
	w.lane.NoteEmpty()
	s := f.scopes
	if s == nil {
		s = &Scope{w: w, slack: w.lane.SlackWord(), lo: noStack}
	} else {
		f.scopes = s.next
	}
	f.begun++
	s.number = f.begun
	s.fork, s.body, s.run = next, next.Body, scopeRunOf(next.Body)
	s.top.span, s.under = span{f.under, f.under}, f.under
	f.scope = s
	s.level, s.base = f.level(), f.base
	f.base = s.level // while s lasts remove does not go below
	return s
}

// endTaken ends a fork that beginTaken has begun, after everything that it has started.
func (f *forks) endTaken(done *fork) {
	s := f.scope
	s.finish(s.level)
	done.skipped = done.skipped || s.skipped
	f.base, f.thrown = s.base, thrown{}
	f.scope, f.under = nil, s.under
	s.top = top{}
	s.fork, s.body, s.run, s.lo, s.skipped, s.next = nil, nil, nil, noStack, false, f.scopes
	f.scopes = s
	owner := done.owner
	switch owner {
	case nil: // a root, which is not joined
		return
	case f.w:
		done.own = true
		return
	}
	if done.state.Swap(forkDone)&forkWaited != 0 {
		owner.sleeper.parker.Unpark()
	}
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

// complete runs a fork that will not be joined, or waits until it has been run. Its failure becomes the run's. One that
// would lie too deep on the worker's stack is not run: each may have been forked by the one below.
func (f *forks) complete(unjoined *fork) {
	w := f.w
	w.waits.nested++
	defer func() { w.waits.nested-- }()
	if unjoined.level > f.public {
		unjoined.setOrigin(f.scope) // publish does nothing on an inline worker
		f.publish()                 // now: what unjoined forks would else publish older forks, from another scope (I7)
	}
	switch {
	case !f.takeBack(unjoined):
	case w.waits.nested > maxNested:
		unjoined.err = ErrTooDeep
	default:
		w.runWithin(unjoined.Body.owner(), unjoined.Body, &unjoined.Item)
	}
	unjoined.tellFailure()
}

// abandon ends what s has started, after a failure. Forks that no other worker has taken are not run.
func (f *forks) abandon(s *Scope) {
	f.drop(s.level, func(unjoined *fork) {
		if !f.takeBack(unjoined) {
			unjoined.tellFailure()
		}
	})
	if s.children != nil {
		_ = s.joinChildren()
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

// tellFailure makes the failure of f, which will not be joined, the run's.
func (f *fork) tellFailure() {
	r := scopeRunOf(f.Body)
	r.pass(f, nil)
	if f.err != nil {
		r.fail(nil, f.err, false)
	}
}
