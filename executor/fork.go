package executor

import (
	"sort"

	"github.com/magpie-go/magpie/internal/xatomic"
)

// Fork makes the call fn(s, arg) available to other workers and returns at once. [Forked.Join] makes the call, unless
// another worker has. In between the caller does another part of the work:
//
//	func fib(s *executor.Scope, n int) int {
//		if n < 2 {
//			return n
//		}
//		f := executor.Fork(s, fib, n-1)
//		y := fib(s, n-2)
//		return f.Join(s) + y
//	}
//
// A Fork and its Join cost a few nanoseconds more than the call, and allocate nothing once the worker has as many
// frames as it needs. Forks are best joined in the opposite order in which they were made. A Join in another order is
// slower, and may make the calls that were forked later first.
//
// A forked call is made once, whether it is joined or not, and even after the run was cancelled: it may look at
// [Scope.Stopped]. A call that is not joined has ended before the Join, Wait or Run of the function that has forked it
// returns. Its result is lost, and its panic becomes a failure of the run. Unless another worker makes it earlier, it
// is made after that function has returned, with or without an error, and its deferred calls have been made. Only if
// the function panics or calls [runtime.Goexit], a call that is not joined may be left out.
//
// Fork panics if fn is nil. Only the function that was given scope may call it, on its own goroutine. fn gets a scope
// of its own.
func Fork[A, R any](scope *Scope, fn func(*Scope, A) R, arg A) Forked[A, R] {
	// The compiler inlines Fork, which is one call, into its caller, and there the literal: one that is called once may
	// be large. Join is written likewise. With a compiler that does not do so, each costs two calls. The loops have no
	// second iteration: a break leads to the slow path.
	return func() Forked[A, R] {
		var frame struct{}
		here := frameOf(&frame)
		w := scope.w
		for {
			outer := scope.forker
			p, ok := w.forks.last.(*callPool[A, R])
			if !ok || fn == nil {
				break
			}
			if !isBeside(here, outer) {
				break
			}
			used := p.used
			if uint(used) >= uint(len(p.calls)) {
				break
			}
			c := p.calls[used]
			p.used = used + 1
			c.fn, c.arg = fn, arg
			// A fork is private until there is demand: a published fork costs two locked instructions. See PROTOCOL.md,
			// Forks.
			level := w.forks.level + 1
			w.forks.level = level
			c.level = level
			c.outer = outer
			scope.forker = here
			turn := c.turn
			if w.lane.Demand() {
				w.attend(&c.fork)
			} else if isSameFrame(here, outer) && w.lane.MayHaveFew() {
				w.attend(&c.fork) // the second fork of one frame may be worth showing without demand
			}
			return Forked[A, R]{c, turn}
		}
		return forkSlowly(scope, fn, arg, here)
	}()
}

// forkSlowly is Fork for a fork of another type than the one before, for the first in a block of the stack, and where
// no frame is left. here is that of Fork.
//
//go:noinline
func forkSlowly[A, R any](s *Scope, fn func(*Scope, A) R, arg A, here uintptr) Forked[A, R] {
	if fn == nil {
		panic("executor: Fork of a nil function")
	}
	w := s.w
	moved := false
	if !isBeside(here, s.forker) {
		moved = w.check(s, here)
	}
	p, ok := w.forks.last.(*callPool[A, R])
	if !ok {
		p = callPoolOf[A, R](w)
	}
	if p.used == len(p.calls) {
		p.grow(w)
	}
	c := p.calls[p.used]
	p.used++
	c.fn, c.arg = fn, arg
	w.forks.level++
	c.level = w.forks.level
	c.outer = s.forker
	s.forker = here
	turn := c.turn
	if w.lane.Demand() {
		w.attend(&c.fork)
	} else if (isSameFrame(here, c.outer) || moved) && w.lane.MayHaveFew() {
		w.attend(&c.fork) // as in Fork
	}
	return Forked[A, R]{c, turn}
}

// A Forked stands for a forked call. It need not be joined: see [Fork]. It is joined at most once, with the Scope that
// it was forked with, by the function that has forked it. Any other Join panics, and so does a Join of the zero Forked.
type Forked[A, R any] struct {
	c    *call[A, R]
	turn uint64 // that c had
}

// Join returns what the forked call has returned. If no other worker has begun the call, Join makes it. Otherwise Join
// waits, and meanwhile the worker runs only what the call has started: if the caller holds a lock, nothing runs on its
// stack that does not also keep the call from ending. There are two exceptions: if other workers could take forks of
// the scope, Join first runs the forks made and the children started after this one; and Join makes calls of
// [Broadcast].
//
// If the call panicked, Join panics with the same value. If it called [runtime.Goexit], Join panics with [ErrGoexit].
func (f Forked[A, R]) Join(scope *Scope) R {
	return func() R {
		var frame struct{}
		here := frameOf(&frame)
		c := f.c
		w := scope.w
		p, ok := w.forks.last.(*callPool[A, R]) // mostly c.pool; the next Fork then need not wait for the load of c
		if !ok {
			p = c.pool
		}
		for {
			level := w.forks.level
			if c.level != level || c.turn != f.turn || scope.children != nil {
				break
			}
			if !isBeside(here, scope.forker) {
				break
			}
			if w.lane.Demand() {
				break
			}
			// c is the newest fork, and private.
			level--
			w.forks.level = level
			scope.forker = c.outer
			c.turn++ // a second Join then panics
			p.used--
			fn, arg := c.fn, c.arg
			var none A
			c.arg = none // so that c does not keep alive what arg points to
			r := fn(scope, arg)
			if scope.children != nil || w.forks.level != level {
				scope.finish(level)
			}
			return r
		}
		return c.joinSlowly(scope, f.turn, here)
	}()
}

// joinSlowly is Join if there is demand, or the scope has children, and where joinChecked is called. here is that of
// Join.
//
//go:noinline
func (c *call[A, R]) joinSlowly(s *Scope, turn uint64, here uintptr) R {
	w := s.w
	if c.level != w.forks.level || c.turn != turn || !isBeside(here, s.forker) {
		return c.joinChecked(s, turn, here)
	}
	w.forks.level--
	s.forker = c.outer
	c.turn++
	c.pool.used--
	if w.lane.Demand() {
		w.attend(nil) // the older ones
	}
	return c.make(s)
}

// A fork is the part of a forked call, a child or a root that does not depend on its types.
type fork struct {
	Item // first: see forkOf

	mark   uint64  // of the owner's lane before the push
	parent *fork   // the fork in whose call this one was made; nil for a root
	owner  *Worker // the worker that makes and joins it
	err    error   // the failure, if the call did not return
	// state is 0, or forkWaited, until another worker takes the fork from a lane. That worker, the taker, adds its
	// number and its count of takes. At the end it stores forkDone, and the state is the owner's again.
	state   xatomic.Uint64
	depth   uint32 // the number of ancestors; set with parent
	kind    forkKind
	skipped bool // a child that was not begun, or a call that has joined one
	joined  bool // joined out of order: the fork stays in its pool until newer ones have been joined
	own     bool // the owner itself has run it; no other worker waits for it, and state does not change

	// A fork that is not taken uses only the following fields and those of the call: one cache line if A and R are
	// small.
	turn  uint64  // how many calls the fork has been used for, see Forked; with shownTurn from the push on
	level uint64  // the position among the worker's forks that are not joined, see forks
	outer uintptr // Scope.forker before the fork
}

type forkKind uint8

const (
	isCall forkKind = iota
	isChild
	isRoot
)

// shownTurn is the bit of fork.turn of a fork that has been pushed. A Forked has the turn without the bit, so the fast
// path of Join, which compares the turns, is for private forks only.
const shownTurn = 1 << 63

const (
	forkTaker  = 1<<32 - 1 // mask: the taker's ID plus 1
	forkWaited = 1 << 32   // the owner sleeps until the fork is done
	forkDone   = 1 << 33
	forkTakes  = 34 // shift: the taker's forks.takes, this fork included
)

// A call is a forked call. Calls are reused.
type call[A, R any] struct {
	fork   // first: see callOf
	pool   *callPool[A, R]
	fn     func(*Scope, A) R
	arg    A
	result R
}

// make makes the call on the caller's stack, with the caller's scope.
func (c *call[A, R]) make(s *Scope) R {
	fn, arg := c.fn, c.arg
	var none A
	c.arg = none // so that c does not keep alive what arg points to
	if s.children != nil {
		return makeApart(s, fn, arg)
	}
	level := s.w.forks.level
	r := fn(s, arg)
	if s.children != nil || s.w.forks.level != level {
		s.finish(level)
	}
	return r
}

// makeApart makes a call while the caller's scope has children: fn waits only for children of its own.
func makeApart[A, R any](s *Scope, fn func(*Scope, A) R, arg A) R {
	defer s.adopt(s.children)
	s.children = nil
	level := s.w.forks.level
	r := fn(s, arg)
	s.finish(level)
	return r
}

// finish ends what a call with scope s has started: its children, and its forks above level that are not joined.
func (s *Scope) finish(level uint64) {
	if s.children != nil {
		_ = s.joinChildren()
	}
	s.w.forks.drop(level, s.w.forks.complete)
}

// joinChecked is Join for a fork that another worker may have taken, or that is not the newest, or that the caller may
// not have made.
func (c *call[A, R]) joinChecked(s *Scope, turn uint64, here uintptr) R {
	w := s.w
	w.check(s, here)
	f := &w.forks
	level := c.level
	switch {
	case c.owner == w && (c.turn&^shownTurn != turn || c.joined):
		panic("executor: a Forked is joined after its end: it was joined before, " +
			"or the function that forked it has ended")
	case c.owner != w || level <= s.level:
		panic("executor: a Forked is joined with a Scope other than the one that it was forked with")
	}
	if w.takeBack(&c.fork) {
		c.pool.release(c)
		f.remove(&c.fork, level)
		return c.make(s)
	}
	r, err := c.result, c.err
	var none R
	c.result = none
	s.run.pass(&c.fork, s.fork)
	s.skipped = s.skipped || c.skipped
	c.pool.release(c)
	f.remove(&c.fork, level)
	if err != nil {
		f.rethrow(err)
	}
	return r
}

// execCall makes the call for the worker that took the fork from a lane.
func execCall[A, R any](w *Worker, it *Item) *Item {
	c := callOf[A, R](it)
	s := w.forks.begin(&c.fork)
	var none A
	arg := c.arg
	c.arg = none
	c.result = c.fn(s, arg)
	w.forks.end(&c.fork)
	return nil
}

// A callPool has a worker's calls of one type. The first used ones are in use, in the order in which they were forked.
type callPool[A, R any] struct {
	calls []*call[A, R]
	used  int
	held  int // the number of calls in use that were joined before newer ones
}

// A pool is a callPool of any type.
type pool interface {
	newest() *fork                  // the newest in use, or nil
	oldestAbove(level uint64) *fork // the oldest above level that is in use and not joined, or nil
	heldCount() int                 // callPool.held
	drop()                          // puts the newest out of use
	forget()                        // drops the references of calls out of use
}

// callPoolOf returns the worker's pool for calls of the type, and sets forks.last to it.
func callPoolOf[A, R any](w *Worker) *callPool[A, R] {
	f := &w.forks
	for _, some := range f.pools {
		if p, ok := some.(*callPool[A, R]); ok {
			f.last = p
			return p
		}
	}
	p := &callPool[A, R]{}
	f.pools = append(f.pools, p)
	f.last = p
	return p
}

func (p *callPool[A, R]) grow(w *Worker) {
	block := make([]call[A, R], max(16, len(p.calls)))
	exec := execCall[A, R]
	if w.core.watch.tellsTasks() {
		exec = execCallObserved[A, R]
	}
	for i := range block {
		c := &block[i]
		c.Exec, c.owner, c.pool = exec, w, p
		p.calls = append(p.calls, c)
	}
}

// release puts c out of use. If newer calls are in use, c stays in its place, marked as joined.
func (p *callPool[A, R]) release(c *call[A, R]) {
	c.joined = true
	p.held++
	for p.used > 0 && p.calls[p.used-1].joined {
		p.used--
		p.held--
		p.calls[p.used].reset()
	}
}

// reset makes a used fork ready for its next use.
func (f *fork) reset() {
	f.turn = f.turn&^shownTurn + 1
	f.joined, f.own, f.skipped = false, false, false
	f.err, f.parent = nil, nil
	if f.state.Load() != 0 {
		f.state.Store(0)
	}
}

func (p *callPool[A, R]) newest() *fork {
	if p.used == 0 {
		return nil
	}
	return &p.calls[p.used-1].fork
}

func (p *callPool[A, R]) oldestAbove(level uint64) *fork {
	i := sort.Search(p.used, func(i int) bool { return p.calls[i].level > level })
	for ; i < p.used; i++ {
		if !p.calls[i].joined {
			return &p.calls[i].fork
		}
	}
	return nil
}

func (p *callPool[A, R]) heldCount() int { return p.held }

func (p *callPool[A, R]) drop() {
	var noArg A
	var noResult R
	p.used--
	c := p.calls[p.used]
	if c.joined {
		p.held--
	}
	c.arg, c.result = noArg, noResult
	c.reset()
}

// forget drops the functions and bodies of calls out of use. Calls that were used since the last forget come first, and
// have an fn, so forget stops at the first call without one.
func (p *callPool[A, R]) forget() {
	for _, c := range p.calls[p.used:] {
		if c.fn == nil {
			return
		}
		c.fn, c.Body = nil, nil
	}
}
