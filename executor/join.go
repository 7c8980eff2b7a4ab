package executor

import (
	"context"

	"github.com/magpie-go/magpie/deque"
)

// forkState is a worker's part of fork-join. Owner only, plain.
type forkState struct {
	// level is the level of the newest fork that is in use, or base. Those up to public have been pushed to the deque,
	// in the order of their levels; the others are private.
	level, public uint64
	base          uint64  // the level when the innermost scope began; of a free worker, where its levels begin
	calls         any     // the *callPool that was used last
	pools         []forks // all
	children      *child  // free ones
	scopes        *Scope  // free ones
	scope         *Scope  // that of the function that runs; only it may be used
	stack         stack   // on which the worker runs
	takes         uint64  // forks taken, of other workers' and of none
	disorder      int     // forks that were joined before newer ones
	thrown        error   // what rethrow panicked with last
	eager         bool    // constant: hungry is always set
	enough        int     // with so many items in the deque a second fork of one frame may stay private
}

// publishForks makes the worker's private forks available to others, oldest first, and wakes somebody for them. The newest
// is given if it is at hand. An inline worker keeps them: there are no others.
func (w *Worker) publishForks(newest *fork) {
	if w.public == w.level || w.shuffled != nil {
		if w.core.asked {
			w.poll() // for what is in the queue
		}
		return
	}
	if w.hungry.Load() && !w.eager {
		w.hungry.Store(false)
	}
	for w.public < w.level {
		f := newest
		if f == nil || w.public+1 < w.level {
			f = w.oldestPrivate()
		}
		if f == nil {
			w.public = w.level // what is left of them was joined before newer ones
			break
		}
		w.public = f.level
		f.floor = w.bottom()
		f.isFrom(w.scope)
		w.put(&f.Item)
	}
	if w.queue != nil {
		w.poll()
		if w.core.asked && w.queue.Wanted() {
			w.setHungry() // L1: somebody has asked, and may sleep, for whom there was nothing
		}
		return
	}
	// D1(publish): as D1(push).
	if w.core.thieves.Load() == 0 && w.core.anyoneAsleep() {
		w.wakeFor(w.body.Run())
	}
}

// exposeForks is publishForks for a worker that is about to run something on top of the call in progress, or to wait:
// its joiner may come late. So the private forks are all of the scope that began last (I7).
func (w *Worker) exposeForks() {
	if w.public != w.level {
		w.publishForks(nil)
	}
}

// oldestPrivate is the private fork with the lowest level that is not joined, or nil.
func (w *Worker) oldestPrivate() (oldest *fork) {
	for _, p := range w.pools {
		if f := p.oldestAbove(w.public); f != nil && (oldest == nil || f.level < oldest.level) {
			oldest = f
		}
	}
	return oldest
}

// unfork takes f, which was of that level and has been released, out of account.
func (w *Worker) unfork(f *fork, level uint64) {
	if f.joined {
		w.disorder++ // it is not the newest of its pool
	}
	if level == w.level && w.disorder == 0 {
		w.level--
		w.scope.forker = f.outer
	} else {
		w.recount()
	}
	w.public = min(w.public, w.level)
}

// recount finds out the level after forks were joined out of order.
func (w *Worker) recount() {
	w.level, w.disorder = w.base, 0
	for _, p := range w.pools {
		if f := p.newest(); f != nil {
			w.level = max(w.level, f.level)
		}
		w.disorder += p.heldCount()
	}
	w.public = min(w.public, w.level)
}

// takeBack makes f the worker's own again and returns true, or waits until whoever has taken it is done and returns
// false. Forks and children that are newer than f, and in the deque above it, are run before.
func (w *Worker) takeBack(f *fork) bool {
	if f.level > w.public {
		return true // private, and not the newest
	}
	for !f.own && f.state.Load() == 0 && int64(w.bottom()-f.floor) > 0 {
		it := w.popOwn()
		w.noteEmpty()
		if it == &f.Item {
			return true
		}
		if it == nil {
			break
		}
		if it.Body != f.Body || forkOf(it).isOlder(w, f.floor) {
			// Of a run or future that was started after f; or older than f, where thieves do not take the oldest first. It
			// might want a lock that the joiner holds.
			w.ex.inject(it)
			continue
		}
		w.exposeForks()
		w.runWithin(it.Body.Run().asRun(), it.Body, it)
	}
	w.exposeForks()
	w.await(f) // also when it is in the injector, or in the hands of a thief who has not begun
	return false
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

// noteEmpty has the next fork published if there is nothing to steal.
func (w *Worker) noteEmpty() {
	if !w.eager && !w.core.asked && w.deque.IsEmpty() {
		w.setHungry()
	}
}

func (w *Worker) setHungry() {
	if !w.alone && !w.hungry.Load() {
		w.hungry.Store(true)
	}
}

// begin prepares worker w to run f, which it has taken from a deque.
func (w *Worker) begin(f *fork) *Scope {
	if f.owner != w {
		w.takes++
		f.state.Add(uint64(w.id+1) | w.takes<<forkTakes)
	}
	w.noteEmpty()
	s := w.scopes
	if s == nil {
		s = &Scope{w: w}
	} else {
		w.scopes = s.next
	}
	s.fork, s.body, s.run = f, f.Body, scopeRunOf(f.Body)
	w.scope = s
	s.level, s.base = w.level, w.base
	w.base = w.level // forks that were joined before newer ones may go meanwhile; those of s stay above the level all the same
	return s
}

// end ends f, after what it has started.
func (w *Worker) end(f *fork) {
	s := w.scope
	s.finish(s.level)
	f.skipped = f.skipped || s.skipped
	w.base, w.thrown = s.base, nil
	w.scope = nil
	s.fork, s.body, s.run, s.forker, s.skipped, s.next = nil, nil, nil, 0, false, w.scopes
	w.scopes = s
	if f.owner == w {
		f.own = true
		return
	}
	owner := f.owner
	if f.state.Swap(forkDone)&forkWaited != 0 {
		owner.helper.Unpark()
	}
}

// drop puts the forks above level out of use, newest first, after do has been called for each.
func (w *Worker) drop(level uint64, do func(*fork)) {
	for w.level > level {
		for _, p := range w.pools {
			if f := p.newest(); f != nil && f.level == w.level {
				if !f.joined {
					do(f)
				}
				p.drop()
				break
			}
		}
		w.recount()
	}
}

// complete sees to it that f has been run. Nobody will join it, so its failure is the run's.
func (w *Worker) complete(f *fork) {
	if f.level > w.public {
		f.isFrom(w.scope)   // an inline worker publishes nothing
		w.publishForks(nil) // or what f forks would do so, while f is run
	}
	if w.takeBack(f) {
		w.runWithin(f.Body.Run().asRun(), f.Body, &f.Item)
	}
	w.tellFailure(f)
}

// tellFailure makes the failure of f, which nobody joins, the run's.
func (w *Worker) tellFailure(f *fork) {
	r := scopeRunOf(f.Body)
	r.pass(f, nil)
	if f.err != nil {
		r.fail(nil, f.err, false)
	}
}

// abandon ends what s has started, after a failure. Forks that nobody has taken are left out.
func (w *Worker) abandon(s *Scope) {
	w.drop(s.level, func(f *fork) {
		if !w.takeBack(f) {
			w.tellFailure(f)
		}
	})
	if s.children != nil {
		_ = s.joinChildren()
	}
}

// rethrow ends the caller as the call it joins has ended.
func (w *Worker) rethrow(err error) {
	w.thrown = err
	if p, ok := err.(*PanicError); ok {
		panic(p.Value)
	}
	panic(err)
}

// rethrown returns the failure that the panic with value passes on, or nil.
func (w *Worker) rethrown(value any) error {
	err := w.thrown
	w.thrown = nil
	if p, ok := err.(*PanicError); ok && isSame(p.Value, value) || err != nil && isSame(err, value) {
		return err
	}
	return nil
}

// inside is what a worker puts aside while it runs other items on top of the one that waits.
type inside struct {
	body     *Body
	awaits   *Run
	floor    uint64
	only     *Body
	scope    *Scope
	forker   uintptr // of scope
	joins    uint32
	waitsFor *Run
	thrown   error
	state    uint32
	labels   context.Context
}

// goInside lets the worker run items on top of the one being run: of r and of runs nested in it or, if only is set, of that
// body, and none that lies below floor in its deque. Until comeOut nobody may use the scope of the one that waits.
func (w *Worker) goInside(r *Run, floor uint64, only *Body) inside {
	put := inside{w.body, w.awaits, w.floor, w.only, w.scope, 0, w.joins.n.Load(), w.waitsFor.Load(), w.thrown, w.state.Load(), w.labels}
	w.thrown = nil
	w.awaits, w.floor, w.only, w.scope = r, floor, only, nil
	if put.scope != nil {
		put.forker, put.scope.forker = put.scope.forker, 0 // for check
	}
	return put
}

// comeOut undoes goInside.
func (w *Worker) comeOut(put inside) {
	w.awaits, w.floor, w.only, w.scope = put.awaits, w.lowered(put.floor), put.only, put.scope
	w.thrown = put.thrown
	if put.scope != nil {
		put.scope.forker = put.forker
	}
	if w.body != put.body {
		w.turnTo(put.body, put.labels)
	}
	if w.joins.n.Load() != put.joins {
		w.joins.n.Store(put.joins)
	}
	if w.waitsFor.Load() != put.waitsFor {
		w.waitsFor.Store(put.waitsFor)
	}
	w.state.Store(put.state)
}

// runDownTo runs what lies above floor in the worker's deque and is of body, newest first.
func (w *Worker) runDownTo(body *Body, floor uint64) {
	defer w.comeOut(w.goInside(body.Run().asRun(), floor, body))
	for it := w.pop(); it != nil; it = w.pop() {
		w.runItems(it)
	}
}

// runWithin runs it, and of what it leaves behind that of r and of runs nested in it or, if only is set, of that body.
func (w *Worker) runWithin(r *Run, only *Body, it *Item) {
	defer w.comeOut(w.goInside(r, w.bottom(), only))
	for ; it != nil; it = w.pop() {
		w.runItems(it)
	}
}

// await waits until f, which somebody else has, is done. Meanwhile the worker runs what f has forked and started.
func (w *Worker) await(f *fork) {
	if f.isDone() {
		return
	}
	r := f.Body.Run().asRun()
	put := w.goInside(r, w.bottom(), f.Body)
	defer w.comeOut(put)
	w.joins.begin(f, w.takes)
	if w.core.sleepingHelpers.Load() > 0 {
		// D1(leap): joins, then look for those who wait for what w has. Pairs with D1(join): they can go on to whoever
		// has f.
		w.ex.wakeHelpers(r, w)
	}
	for spins := 0; !f.isDone(); spins++ {
		it := w.pop()
		var within *Run
		if it == nil {
			it, within, _ = w.leap(f)
		}
		if it == nil && spins >= helpSpins {
			it, within = w.sleepOn(f, r)
			spins = 0
		}
		if it == nil {
			continue
		}
		if within != nil {
			w.runWithin(within, nil, it)
		} else {
			w.runItems(it)
			if w.body != put.body {
				w.turnTo(put.body, put.labels) // it has failed
			}
		}
		spins = 0
	}
}

// isOlder reports whether f, out of the deque of w, was there already when that had this bottom.
func (f *fork) isOlder(w *Worker, bottom uint64) bool {
	return f.owner != w || int64(f.floor-bottom) < 0
}

// isDone is for the owner.
func (f *fork) isDone() bool { return f.own || f.state.Load()&forkDone != 0 }

// sleepOn sleeps until f is done or there may be something to do that comes from it. It returns an item if it found one
// on the last look.
func (w *Worker) sleepOn(f *fork, r *Run) (it *Item, within *Run) {
	ex := w.ex
	w.bringForward()
	w.state.Store(uint32(preparing))
	w.helping.Store(r)
	ex.sleepingHelpers.Add(1)
	// D1(join): announce, then look once more. Pairs with D1(push), and with the exchange in end.
	f.state.Or(forkWaited)
	it, within, from := w.leap(f)
	if it == nil {
		it = w.retrieve(f)
	}
	w.leapsFrom.Store(from)
	if it == nil && !f.isDone() {
		w.sleepInWait()
	}
	w.leapsFrom.Store(0)
	ex.sleepingHelpers.Add(-1)
	w.helping.Store(nil)
	w.state.Store(uint32(running))
	for {
		state := f.state.Load()
		if state&forkDone != 0 || f.state.CompareAndSwap(state, state&^forkWaited) {
			return it, within
		}
	}
}

// retrieve takes f out of the injector, if it is there: somebody who waited for something else has met it.
func (w *Worker) retrieve(f *fork) *Item {
	for range w.ex.injector.len() {
		if f.state.Load()&^forkWaited != 0 {
			return nil
		}
		it, outcome := w.stealFrom(w.id)
		for outcome == deque.Lost {
			it, outcome = w.stealFrom(w.id)
		}
		if it == nil || it == &f.Item {
			return it
		}
		w.ex.inject(it)
	}
	return nil
}
