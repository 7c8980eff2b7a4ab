package executor

// Fork makes the call fn(s, arg) available to other workers and returns at once. [Forked.Join] makes the call, unless
// another worker has:
//
//	func fib(s *executor.Scope, n int) int {
//		if n < 2 {
//			return n
//		}
//		f := executor.Fork(s, fib, n-1)
//		y := fib(s, n-2) // another part of the work
//		return f.Join(s) + y
//	}
//
// A Fork and its Join cost a few nanoseconds more than the call, and hardly ever allocate. Forks are best joined in the
// opposite order in which they were made: another order is slower, and may make later calls first.
//
// A forked call is made once, joined or not, and even after the run was cancelled: it may look at [Scope.Stopped]. A
// call that is not joined ends before the Join, Wait or Run of the function that has forked it returns. At the latest
// it is made after that function has returned and its deferred calls were made. Its result is lost, and its panic
// becomes a failure of the run. It may be left out if the function panics or calls Goexit.
//
// A function may wait for what a call that it has not joined yet is to do, such as to send on a channel, but only in
// [Blocking], which shows its forks to other workers. Without that it may wait for ever.
//
// Only the function that was given scope may call Fork. fn gets another one.
func Fork[A, R any](scope *Scope, fn func(*Scope, A) R, arg A) Forked[A, R] {
	// The compiler inlines Fork, which is one call, into its caller, and there the literal: one that is called once may
	// be large. Join is written likewise. With a compiler that does not do so, each costs two calls.
	//
	// The loop has no second iteration: the compiler takes the condition of a loop for one that mostly holds, and lays
	// the code out without a jump for that case.
	return func() Forked[A, R] {
		var frame struct{}
		here := frameOf(&frame)
		slack := scope.slack.Load()
		c, last := nextOf[A, R](&scope.top), lastOf[A, R](&scope.top)
		_, ok := scope.top.pool.(*callPool[A, R])
		// The first comparison asks whether the caller is on the worker's stack, and whether there is demand. A fork is
		// private until there is: a published fork costs two locked instructions. See protocol/forks.md.
		for here-scope.lo < slack && fn != nil && ok && c != last {
			c.arg, c.fn = arg, fn
			c.frame = here
			generation := c.generation
			scope.top.next = c.above()
			for c.below().frame != here {
				return Forked[A, R]{c, generation}
			}
			// The second fork of one frame may be worth showing without demand.
			w := scope.w
			if enough := w.lane.Enough(); enough != 0 && w.lane.MayHaveFewer(enough) {
				attendIfFew(w)
			}
			return Forked[A, R]{c, generation}
		}
		return forkSlowly(scope, fn, arg, here)
	}()
}

// forkSlowly is Fork in all other cases: if there is demand, if forks are pushed at once, if the fork has another type
// than the one before, if it is the first of its scope or the first in a block of the stack, while the scope has
// children, and if no call is left. here is that of Fork.
//
//go:noinline
func forkSlowly[A, R any](s *Scope, fn func(*Scope, A) R, arg A, here uintptr) Forked[A, R] {
	if fn == nil {
		panic("executor: Fork of a nil function")
	}
	w := s.w
	f := forksOf(w)
	_, ok := s.top.pool.(*callPool[A, R])
	// Both are loaded before, since the compiler keeps the result of a call that it inlines between two conditions, and
	// tests it once more.
	level, rests := f.public+1, f.rests.Load()
	// A worker that is to rest pushes its private forks first, which attend does: so c is private then.
	if c, last := nextOf[A, R](&s.top), lastOf[A, R](&s.top); f.pushes && s.isHome(here) && ok && c != last &&
		c.level == level && !rests {
		generation := c.generation
		c.fn, c.arg, c.frame = fn, arg, here
		s.top.next = c.above()
		if c.from != s.number {
			c.setOrigin(s)
		}
		c.mark = w.lane.Mark()
		c.generation = generation | pushedBit
		f.public = level
		if near := w.lane.Near(); near.MayPush() {
			near.Push(&c.Item)
			w.lane.Pushed++
		} else {
			forksOf(w).pushFork(&c.fork)
		}
		return Forked[A, R]{c, generation}
	}
	moved := !s.isHome(here) && forksOf(w).check(s, here)
	level = f.level()
	at := placeOf(level) + 1
	p := callPoolOf[A, R](s, at)
	c := p.callAt(at)
	generation := c.generation // without its bits
	again := w.lane.HasFew() && (moved || level > f.base && f.frameAt(level) == here)
	c.fn, c.arg = fn, arg
	c.frame = here
	s.top.set(p.from(at + 1))
	if again || w.lane.Demand() {
		forksOf(w).attend()
	}
	return Forked[A, R]{c, generation}
}

// A Forked stands for a forked call. The function that has forked the call joins it at most once, with the same Scope.
// Any other Join panics.
type Forked[A, R any] struct {
	c          *call[A, R]
	generation uint64 // that c had
}

// Join returns what the forked call has returned. If no other worker has begun the call, Join makes it. Otherwise Join
// waits, and meanwhile the worker runs only what the call has started. So if the caller holds a lock, nothing runs on
// its stack that does not also keep the call from ending. But if other workers could take forks of the scope, Join
// first runs the forks made and the children started after this one. If the call panicked, Join panics with the same
// value; after Goexit, with [ErrGoexit].
func (f Forked[A, R]) Join(scope *Scope) R {
	return func() R {
		var frame struct{}
		here := frameOf(&frame)
		c := f.c
		next, slack := scope.top.next, scope.slack.Load()
		// c is the newest fork and there are no children, it is private, and what Fork asks.
		for next == c.above() && c.generation == f.generation && here-scope.lo < slack {
			scope.top.next = c.address()
			c.frame = 0    // out of use
			c.generation++ // a second Join then panics
			fn, arg := c.fn, c.arg
			var none A
			c.arg = none // so that c does not keep alive what arg points to
			r := fn(scope, arg)
			for nextOf[A, R](&scope.top) == c {
				return r
			}
			// fn has left forks or children, or has forked another type.
			return finished(scope, c.level-1, r)
		}
		return c.joinSlowly(scope, f.generation, here)
	}()
}

// joinSlowly is Join if there is demand, or the scope has children, after a fork of another type, and where joinChecked
// is called. here is that of Join.
//
//go:noinline
func (c *call[A, R]) joinSlowly(s *Scope, generation uint64, here uintptr) R {
	w := s.w
	// There are no children, c is the newest and was pushed, and no older fork was joined before it.
	if s.top.next == c.above() && c.generation == generation|pushedBit && s.isHome(here) {
		var it *Item
		if near := w.lane.Near(); near.MayPop() {
			it = near.Pop()
			w.lane.Popped++
		} else {
			it = w.popOwn()
		}
		if it == &c.Item {
			forksOf(w).public = c.level - 1
			s.top.next = c.address()
			c.generation, c.frame = generation+1, 0
			fn, arg := c.fn, c.arg
			var none A
			c.arg = none
			r := fn(s, arg)
			if nextOf[A, R](&s.top) == c {
				return r
			}
			return finished(s, c.level-1, r)
		}
		if it != nil {
			w.Push(it) // another worker has c, or it is newer
		}
	}
	if !s.isHome(here) || c.generation != generation || c.level != forksOf(w).level() {
		return c.joinChecked(s, generation, here)
	}
	if p, ok := s.top.pool.(*callPool[A, R]); ok && p.callAt(placeOf(c.level)) == c {
		s.top.set(p.from(placeOf(c.level)))
	} else {
		s.top.lower(&c.fork)
	}
	c.frame = 0
	c.generation++
	if w.lane.Demand() {
		forksOf(w).attend() // the older ones
	}
	return c.make(s)
}

// make makes the call on the caller's stack, with the caller's scope.
func (c *call[A, R]) make(s *Scope) R {
	fn, arg := c.fn, c.arg
	var none A
	c.arg = none // so that c does not keep alive what arg points to
	if s.children != nil {
		return makeApart(s, fn, arg)
	}
	level := forksOf(s.w).level() // newer forks may be in use
	return finished(s, level, fn(s, arg))
}

// makeApart makes a call while the caller's scope has children: fn waits only for children of its own.
func makeApart[A, R any](s *Scope, fn func(*Scope, A) R, arg A) R {
	defer s.adopt(s.children)
	s.children = nil
	s.noteChildren()
	level := forksOf(s.w).level()
	r := fn(s, arg)
	s.finish(level)
	return r
}

// joinChecked joins a fork that another worker may have taken, or that is not the newest. It panics if the caller has
// not made the fork, or if the fork was joined before.
func (c *call[A, R]) joinChecked(s *Scope, generation uint64, here uintptr) R {
	w := s.w
	forksOf(w).check(s, here)
	f := forksOf(w)
	switch {
	case c.owner == w && (c.generation&^forkBits != generation || c.joined):
		panic("executor: a Forked is joined after its end: it was joined before, " +
			"or the function that forked it has ended")
	case c.owner != w || c.level <= s.level:
		panic("executor: a Forked is joined with a Scope other than the one that it was forked with")
	}
	if forksOf(w).takeBack(&c.fork) {
		f.remove(&c.fork)
		return c.make(s)
	}
	r, err := c.result, c.err
	var none R
	c.result = none
	s.run.pass(&c.fork, s.fork)
	s.skipped = s.skipped || c.skipped
	f.remove(&c.fork)
	if err != nil {
		f.thrown.throw(err)
	}
	return r
}
