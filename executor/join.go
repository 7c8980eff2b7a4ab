package executor

import "github.com/magpie-go/magpie/deque"

// forkState is a worker's part of fork-join. Owner only, plain.
type forkState struct {
	// level is the level of the newest fork that is in use, or 0. Those up to public have been pushed to the deque, in
	// the order of their levels; the others are private.
	level, public uint64
	base          uint64  // the level when the innermost scope began; level does not fall below it
	forker        uintptr // tells the stack frame that made the newest fork
	calls         any     // the *callPool that was used last
	pools         []forks // all
	children      *child  // free ones
	scopes        *Scope  // free ones
	scope         *Scope  // that of the function that runs; only it may be used
	spawned       uint32  // children started
	takes         uint64  // forks taken from deques
	disorder      int     // forks that were joined before newer ones
	thrown        error   // what rethrow panicked with last
	eager         bool    // constant: hungry is always set
	enough        int     // constant: with so many items in the deque a second fork of one frame may stay private
}

// publishForks makes the worker's private forks available to others, oldest first, and wakes somebody for them. The newest
// is given if it is at hand.
func (w *Worker) publishForks(newest *fork) {
	if w.public == w.level || w.alone && !w.eager {
		if w.ex.asked {
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
		w.put(&f.Item)
	}
	if w.queue != nil {
		w.poll()
		if w.ex.asked && w.queue.Wanted() {
			w.setHungry() // L1: somebody has asked, and may sleep, for whom there was nothing
		}
		return
	}
	// D1(publish): as D1(push).
	if w.ex.thieves.Load() == 0 && w.ex.anyoneAsleep() {
		w.wakeFor(w.body.Run())
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
		w.forker = f.outer
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
		w.runNow(it)
	}
	w.await(f) // also when it is in the injector, or in the hands of a thief who has not begun
	return false
}

// noteEmpty has the next fork published if there is nothing to steal.
func (w *Worker) noteEmpty() {
	if !w.eager && !w.ex.asked && w.deque.IsEmpty() {
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
	s.body, s.run = f.Body, scopeRunOf(f.Body)
	s.outer, w.scope = w.scope, s
	s.level, s.base, s.forker = w.level, w.base, w.forker
	w.base = w.level // forks that were joined before newer ones may go meanwhile; those of s stay above the level all the same
	w.forker = 0
	f.scope = s
	return s
}

// end ends f, after what it has started.
func (w *Worker) end(f *fork) {
	s := f.scope
	if s.children != nil {
		_ = s.joinChildren()
	}
	if w.level > s.level {
		w.drop(s.level, w.complete)
	}
	w.base, w.forker, w.thrown = s.base, s.forker, nil
	w.scope = s.outer
	s.body, s.run, s.outer, s.next = nil, nil, nil, w.scopes
	w.scopes = s
	f.scope = nil
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
		w.publishForks(nil) // or what f forks would do so, while f is run
	}
	if w.takeBack(f) {
		w.runNow(&f.Item)
	}
	if f.err != nil {
		scopeRunOf(f.Body).fail(f.err)
	}
}

// abandon ends what s has started, after a failure. Forks that nobody has taken are left out.
func (w *Worker) abandon(s *Scope) {
	w.drop(s.level, func(f *fork) {
		w.takeBack(f)
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
	body    *Body
	awaits  *Run
	floor   uint64
	only    *Body
	joining *fork
	state   uint32
}

// goInside lets the worker run items on top of the one being run: of r and of runs nested in it or, if only is set, of that
// body, and none that lies below floor in its deque.
func (w *Worker) goInside(r *Run, floor uint64, only *Body) inside {
	put := inside{w.body, w.awaits, w.floor, w.only, w.joining.Load(), w.state.Load()}
	w.awaits, w.floor, w.only = r, floor, only
	return put
}

// comeOut undoes goInside.
func (w *Worker) comeOut(put inside) {
	w.awaits, w.floor, w.only = put.awaits, w.lowered(put.floor), put.only
	if w.body != put.body {
		w.enter(put.body)
	}
	if w.joining.Load() != put.joining {
		w.joining.Store(put.joining)
	}
	w.state.Store(put.state)
}

// runDownTo runs what lies above floor in the worker's deque and is of body, newest first.
func (w *Worker) runDownTo(body *Body, floor uint64) {
	defer w.comeOut(w.goInside(body.Run(), floor, body))
	for it := w.pop(); it != nil; it = w.pop() {
		w.runItems(it)
	}
}

// runNow runs it, and what it leaves behind.
func (w *Worker) runNow(it *Item) {
	defer w.comeOut(w.goInside(it.Body.Run(), w.bottom(), it.Body))
	for ; it != nil; it = w.pop() {
		w.runItems(it)
	}
}

// await waits until f, which somebody else has, is done. Meanwhile the worker runs what f has forked and started.
func (w *Worker) await(f *fork) {
	if f.isDone() {
		return
	}
	r := f.Body.Run()
	put := w.goInside(r, w.bottom(), nil)
	defer w.comeOut(put)
	w.joining.Store(f)
	if w.ex.sleepingHelpers.Load() > 0 {
		// D1(leap): joining, then look for those who wait for what w has. Pairs with D1(join): they can go on to whoever
		// has f.
		w.ex.wakeHelpers(r, w)
	}
	for spins := 0; !f.isDone(); spins++ {
		it := w.pop()
		if it == nil {
			it, _ = w.leap(f)
		}
		if it == nil && spins >= helpSpins {
			it = w.sleepOn(f, r)
			spins = 0
		}
		if it != nil {
			w.runItems(it)
			if w.body != put.body {
				w.enter(put.body) // or a nested run could not end: whoever has f may wait for it
			}
			spins = 0
		}
	}
}

// isOlder reports whether f, out of the deque of w, was there already when that had this bottom.
func (f *fork) isOlder(w *Worker, bottom uint64) bool {
	return f.owner != w || int64(f.floor-bottom) < 0
}

// isBelowJoin reports whether it, out of the worker's deque, is older than the Join that the worker waits in. It might want a lock
// that the joiner holds.
func (w *Worker) isBelowJoin(it *Item) bool {
	if w.queue == nil {
		return false // thieves take the oldest first
	}
	f := w.joining.Load()
	return f != nil && it.Body == f.Body && forkOf(it).isOlder(w, w.floor)
}

// isDone is for the owner.
func (f *fork) isDone() bool { return f.own || f.state.Load()&forkDone != 0 }

// maxLeap is how many workers that wait for each other leap follows.
const maxLeap = 8

// A hold is a fork in the hands of a worker.
type hold struct {
	f     *fork
	state uint64
}

// leap steals an item that comes from f, from whoever has f or, if that one waits too, from whoever has what it waits for,
// and so on. It also returns the bits of the workers that it came to.
//
// What a worker has in its deque while it runs a fork comes from that fork: it began with an empty one, or with items of
// other runs. So an item stolen from it does if it has not ended the fork in between.
func (w *Worker) leap(f *fork) (it *Item, from uint64) {
	ex := w.ex
	r := f.Body.Run()
	var held [maxLeap]hold
	for n := range held {
		state := f.state.Load() &^ forkWaited
		if state == 0 || state&forkDone != 0 {
			return nil, from
		}
		held[n] = hold{f, state}
		victim := ex.workers[state&forkTaker-1]
		if victim == w || w.loot != nil && victim.carries.Load() {
			return nil, from
		}
		from |= victim.bit()
		for victim.offers() {
			it, _ := w.stealFrom(victim.id)
			if it == nil {
				continue // lost
			}
			still := (w.loot == nil || !victim.carries.Load()) && stillHeld(held[:n+1])
			if still && it.Body.Run().isWithin(r) {
				return it, from
			}
			ex.inject(it)
			if !still {
				return nil, from
			}
		}
		if f = victim.joining.Load(); f == nil || !stillHeld(held[:n+1]) {
			return nil, from
		}
	}
	return nil, from
}

func stillHeld(all []hold) bool {
	for _, h := range all {
		if h.f.state.Load()&^forkWaited != h.state {
			return false
		}
	}
	return true
}

// sleepOn sleeps until f is done or there may be something to do that comes from it. It returns an item if it found one
// on the last look.
func (w *Worker) sleepOn(f *fork, r *Run) *Item {
	ex := w.ex
	w.giveAway()
	w.state.Store(uint32(preparing))
	w.helping.Store(r)
	ex.sleepingHelpers.Add(1)
	// D1(join): announce, then look once more. Pairs with D1(push), and with the exchange in end.
	f.state.Or(forkWaited)
	it, from := w.leap(f)
	if it == nil {
		it = w.retrieve(f)
	}
	w.leapsFrom.Store(from)
	if it == nil && !f.isDone() {
		w.counts.parks++
		w.state.Store(uint32(parked))
		w.helper.Park()
		w.counts.wakeups++
	}
	w.leapsFrom.Store(0)
	ex.sleepingHelpers.Add(-1)
	w.helping.Store(nil)
	w.state.Store(uint32(running))
	for {
		state := f.state.Load()
		if state&forkDone != 0 || f.state.CompareAndSwap(state, state&^forkWaited) {
			return it
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
