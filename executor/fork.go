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
// frames as it needs. Forks are best joined in the opposite order in which they were made; a Join in another order, or
// none, is slower: the calls that come before it in that order are made first, at the latest when the call ends that
// has forked them.
//
// A call that was forked is made also after the run was cancelled: it may look at s.Stopped. Only if the function that has
// forked it fails before, and no other worker has begun it, it is not.
//
// It panics if fn is nil. Only the function that was given s may call it, on its own goroutine; fn is given a scope of its own.
func Fork[A, R any](scope *Scope, fn func(*Scope, A) R, arg A) Forked[A, R] {
	if fn == nil {
		panic("executor: Fork of a nil function")
	}
	here := frameOf(&scope)
	s := scope // in a register
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
	// A worker forks into its own hands and publishes when it has to: a published fork costs two locked instructions.
	// See PROTOCOL.md, Forks.
	w.forks.level++
	c.level = w.forks.level
	c.outer = s.forker
	s.forker = here
	if w.lane.Demand() || (c.outer == here || moved) && w.lane.MayHaveFew() {
		w.publish(&c.fork)
	}
	return Forked[A, R]{c, c.turn}
}

// A Forked stands for a call that was forked. It is joined with the Scope that it was forked with, at most once: any
// other Join panics, and so does one of the zero Forked. One that is never joined is made before the call ends that has
// forked it.
type Forked[A, R any] struct {
	c    *call[A, R]
	turn uint64 // that c had
}

// Join returns what the forked call has returned. If no other worker has begun the call, Join makes it. Otherwise it
// waits; meanwhile the worker takes part in what the call has started, and in nothing else: if the caller holds a lock,
// nothing runs on its stack that does not also keep the call from ending. The exception is of the caller's own making:
// if others could take forks of the scope, those made after this one, and children started after it, are run before it.
//
// If the call panicked, Join panics with the same value, and if it called runtime.Goexit, with [ErrGoexit].
func (f Forked[A, R]) Join(scope *Scope) R {
	here := frameOf(&scope)
	s := scope // in a register
	c := f.c
	w := s.w
	if c.level != w.forks.level || c.turn != f.turn || c.level <= w.forks.public || !isBeside(here, s.forker) {
		return c.joinChecked(s, f.turn, here)
	}
	w.forks.level--
	s.forker = c.outer
	c.turn++ // for a second Join to tell
	c.pool.used--
	if w.lane.Demand() {
		w.publish(nil) // the older ones
	}
	return c.make(s)
}

// A fork is what the executor knows of a forked call, whatever its types.
type fork struct {
	Item // first: see forkOf

	mark   uint64  // the lane's before it was pushed
	parent *fork   // in whose call it was made; nil of a root
	owner  *Worker // who forks and joins it
	err    error   // why it did not return
	// state is 0 until another worker takes the fork from a lane. That worker counts itself in, and exchanges it for forkDone
	// at the end. From then on the state is its owner's.
	state   xatomic.Uint64
	depth   uint32 // how many forks it is below; set with parent
	kind    forkKind
	skipped bool // it was not begun, being a child, or has joined one that was not
	joined  bool // out of order: it stays in its pool until newer ones have been joined
	own     bool // its owner has run it itself, which nobody else can be waiting for: state stays as it is

	// What follows, and the call, is all that is used of a fork which nobody takes: of a call with small types one
	// cache line.
	turn  uint64  // how many calls it has been; for a Forked to tell
	level uint64  // how many forks of the worker were not joined when it had been made, from Worker.base of a free worker on
	outer uintptr // Scope.forker before it
}

type forkKind uint8

const (
	isCall forkKind = iota
	isChild
	isRoot
)

const (
	forkTaker  = 1<<32 - 1 // number of the worker that has taken it, plus 1
	forkWaited = 1 << 32   // the owner sleeps until it is done
	forkDone   = 1 << 33
	forkTakes  = 34 // from this bit on, how many the worker had taken
)

// A call is a forked call. Calls are reused.
type call[A, R any] struct {
	fork   // first: see callOf
	pool   *callPool[A, R]
	fn     func(*Scope, A) R
	arg    A
	result R
}

// make makes the call as part of the caller, on whose stack it is.
func (c *call[A, R]) make(s *Scope) R {
	fn, arg := c.fn, c.arg
	var none A
	c.arg = none // or it would keep alive what arg points to
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

// makeApart makes a call while the scope has children: what fn waits for is its own.
func makeApart[A, R any](s *Scope, fn func(*Scope, A) R, arg A) R {
	defer s.adopt(s.children)
	s.children = nil
	level := s.w.forks.level
	r := fn(s, arg)
	s.finish(level)
	return r
}

// finish ends what a call has started that had s: its children, and the forks above level, which it has not joined.
func (s *Scope) finish(level uint64) {
	if s.children != nil {
		_ = s.joinChildren()
	}
	s.w.forks.drop(level, s.w.forks.complete)
}

// joinChecked is Join of a fork that others may have taken, or that is not the newest, and if the caller may not be the
// one that has forked it.
func (c *call[A, R]) joinChecked(s *Scope, turn uint64, here uintptr) R {
	w := s.w
	w.check(s, here)
	f := &w.forks
	level := c.level
	switch {
	case c.owner == w && (c.turn != turn || c.joined):
		panic("executor: a Forked is joined after its end: it was joined before, or the function that forked it has ended")
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

// A callPool has a worker's calls of one type: first those in use, in the order in which they were forked.
type callPool[A, R any] struct {
	calls []*call[A, R]
	used  int
	held  int // of those in use, how many were joined before newer ones
}

// A pool is a callPool of any type.
type pool interface {
	newest() *fork                  // of those in use, or nil
	oldestAbove(level uint64) *fork // of those in use and not joined, or nil
	heldCount() int                 // how many in use were joined before newer ones
	drop()                          // puts the newest out of use
	forget()                        // lets go of what those out of use hold
}

// callPoolOf returns the worker's pool for calls of the type, which is the first to be looked for next time.
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
	for i := range block {
		c := &block[i]
		c.Exec, c.owner, c.pool = execCall[A, R], w, p
		p.calls = append(p.calls, c)
	}
}

// release puts c out of use. Others newer than it may be in use still.
func (p *callPool[A, R]) release(c *call[A, R]) {
	c.joined = true
	p.held++
	for p.used > 0 && p.calls[p.used-1].joined {
		p.used--
		p.held--
		p.calls[p.used].reset()
	}
}

// reset makes a fork that others knew of as good as new.
func (f *fork) reset() {
	f.turn++
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

// forget lets go of the functions and the runs of calls that are out of use. Those used since it did so last come
// first: a call that is used has an fn from then on.
func (p *callPool[A, R]) forget() {
	for _, c := range p.calls[p.used:] {
		if c.fn == nil {
			return
		}
		c.fn, c.Body = nil, nil
	}
}
