package executor

import "math"

// A callPool holds a worker's calls of one type, for levels that lie side by side. The fork in use at each level of the
// worker is in one of its pools, at the place of that level. So a pool needs no count of what is in use, and the levels
// are those of a stack.
//
// The calls of a pool lie side by side in memory and are never moved: Fork finds the next one by its address. A pool
// that lacks a place is replaced by another for the same places and more. A type that is used at levels far apart has
// several pools: a pool has no gaps, and a call of a type that is first used at a deep level must not cost memory for
// each level above.
type callPool[A, R any] struct {
	calls []call[A, R] // at the places from base on; those up to the capacity are made when they are needed
	base  place        // no fork is made there, nor in the last call: Fork and Join look at the calls beside theirs

	replaced bool // another pool has all of its places
}

// callPoolOf returns the scope's pool or another one of its worker that has the place for a fork of the type, and makes
// it the scope's.
func callPoolOf[A, R any](s *Scope, at place) *callPool[A, R] {
	if p, ok := s.top.pool.(*callPool[A, R]); ok && p.has(at) {
		return p
	}
	p := findCallPool[A, R](s.w, at)
	s.top.pool = p
	return p
}

// findCallPool returns the newest pool of the worker that has the place for a fork of the type. It makes one if there
// is none.
func findCallPool[A, R any](w *Worker, at place) *callPool[A, R] {
	f := forksOf(w)
	var near *callPool[A, R]
	for _, some := range f.pools {
		if p, ok := some.(*callPool[A, R]); ok {
			if p.has(at) {
				return p
			}
			if near == nil && p.isNear(at) {
				near = p
			}
		}
	}
	if near != nil && near.extend(w, at) {
		return near
	}
	p := newCallPool(w, at, near)
	if near != nil {
		near.replaced = true
	}
	f.pools = append([]pool{p}, f.pools...)
	return p
}

// callBlock is how many neighbouring calls are made at once, at least.
const callBlock = 16

// has reports whether the pool has the place for a fork.
func (p *callPool[A, R]) has(at place) bool { return at-p.base-1 < place(max(len(p.calls), 2))-2 }

// isNear reports whether the pool is to be extended, or followed, to the place: by at most as many calls as it has, or
// a few.
func (p *callPool[A, R]) isNear(at place) bool {
	n := place(len(p.calls))
	room := max(n, 4*callBlock)
	return at+room > p.base && at-p.base < n+room
}

// newCallPool makes a pool that has the place for a fork, and the places of old, if that is not nil.
func newCallPool[A, R any](w *Worker, at place, old *callPool[A, R]) *callPool[A, R] {
	if at > math.MaxInt32-callBlock { // levels further apart have the same place
		panic("executor: a worker has more than two billion forks that are not joined")
	}
	lo, hi := (at-1)/callBlock*callBlock, ((at+1)/callBlock+1)*callBlock
	size := hi - lo
	if old != nil {
		n := place(len(old.calls))
		if lo < old.base {
			lo = min(lo, old.base-min(old.base, n)) // as many again: forks that are joined may go to ever lower levels
		}
		lo, hi = min(lo, old.base), max(hi, old.base+n)
		size = max(hi-lo, 2*n)
	}
	p := &callPool[A, R]{calls: make([]call[A, R], 0, size), base: lo}
	p.extend(w, hi-2)
	return p
}

// extend makes the calls that the pool lacks to have the place. It returns false if the capacity is too small.
func (p *callPool[A, R]) extend(w *Worker, at place) bool {
	n, most := place(len(p.calls)), place(cap(p.calls))
	need := at - p.base + 2 // most is a multiple of callBlock, too
	if at <= p.base || need > most {
		return false
	}
	exec := execCall[A, R]
	if executorOf(w.core).observers.tellsTasks() {
		exec = execCallObserved[A, R]
	}
	p.calls = p.calls[:(need+callBlock-1)/callBlock*callBlock]
	for i := range p.calls[n:] {
		c := &p.calls[int(n)+i]
		c.Exec, c.owner, c.level = exec, w, forksOf(w).first()+uint64(p.base)+uint64(n)+uint64(i)
	}
	return true
}

// callAt returns the call at a place that the pool may have, or nil.
func (p *callPool[A, R]) callAt(at place) *call[A, R] {
	if i := at - p.base; i < place(len(p.calls)) {
		return &p.calls[i]
	}
	return nil
}

// from returns the span in which the next fork is made at the place. The pool has a call there.
func (p *callPool[A, R]) from(at place) span {
	return span{p.callAt(at).address(), p.calls[len(p.calls)-1].address()}
}

func (p *callPool[A, R]) at(at place) *fork {
	if c := p.callAt(at); c != nil && c.frame != 0 {
		return &c.fork
	}
	return nil
}

func (p *callPool[A, R]) drop(at place) {
	var noArg A
	var noResult R
	c := p.callAt(at)
	c.arg, c.result = noArg, noResult
	c.reset()
}

func (p *callPool[A, R]) forget(at place) bool {
	c := p.callAt(at)
	if c == nil || c.fn == nil {
		return false
	}
	c.fn, c.Body, c.parent, c.from = nil, nil, nil, 0
	return true
}

func (p *callPool[A, R]) isReplaced() bool { return p.replaced }
