package executor

import "math"

// A callPool has a worker's calls of one type, for levels that lie side by side. The fork in use at each level of the
// worker is in one of its pools, at the place of that level. So a pool needs no count of what is in use, and the levels
// are those of a stack.
//
// A type that is used at levels far apart has several pools, which may overlap: a pool has no gaps, and a call of a
// type that is first used at a deep level must not cost memory for each level above.
type callPool[A, R any] struct {
	calls []*call[A, R] // at the places from base on; not nil
	base  place         // no fork is made there: Fork looks at the call one place below, too
}

// A place is the index of a level's call in a pool.
type place uint32

// placeOf returns the place of a level: the upper bits of a level are the worker's.
func placeOf(level uint64) place { return place(level) }

// A pool is a callPool of any type.
type pool interface {
	at(place) *fork      // the fork in use, or nil
	drop(place)          // puts the fork in use out of use
	forget(p place) bool // drops the references of the call out of use, and reports whether it had any
}

// callPoolOf returns a pool of the worker that has the place for a fork of the type, and sets forks.last to it.
func callPoolOf[A, R any](w *Worker, at place) *callPool[A, R] {
	f := &w.forks
	if p, ok := f.last.(*callPool[A, R]); ok && p.has(at) {
		return p
	}
	var near *callPool[A, R]
	for _, some := range f.pools {
		if p, ok := some.(*callPool[A, R]); ok {
			if p.has(at) {
				f.last = p
				return p
			}
			if p.isNear(at) {
				near = p
			}
		}
	}
	if near == nil {
		near = &callPool[A, R]{}
		f.pools = append(f.pools, near)
	}
	near.extend(w, at)
	f.last = near
	return near
}

// callBlock is how many neighbouring calls are made at once, at least.
const callBlock = 16

// has reports whether the pool has the place for a fork.
func (p *callPool[A, R]) has(at place) bool { return at-p.base-1 < place(max(len(p.calls), 1)-1) }

// isNear reports whether the pool is to be extended to the place: by at most as many calls as it has, or a few.
func (p *callPool[A, R]) isNear(at place) bool {
	n := place(len(p.calls))
	room := max(n, 4*callBlock)
	return at+room > p.base && at-p.base < n+room
}

// extend makes the calls that the pool lacks up to the place, or down to it.
func (p *callPool[A, R]) extend(w *Worker, at place) {
	if at > math.MaxInt32-callBlock { // levels further apart have the same place, and withChildren is near
		panic("executor: a worker has more than two billion forks that are not joined")
	}
	lo, hi := (at-1)/callBlock*callBlock, (at/callBlock+1)*callBlock
	n := place(len(p.calls))
	switch {
	case n == 0:
		p.base, p.calls = lo, newCalls[A, R](w, lo, hi)
	case lo < p.base:
		lo = min(lo, p.base-min(p.base, n)) // as many again: forks that are joined may go on to ever lower levels
		p.calls = append(newCalls[A, R](w, lo, p.base), p.calls...)
		p.base = lo
	default:
		p.calls = append(p.calls, newCalls[A, R](w, p.base+n, hi)...)
	}
}

// newCalls makes the calls for places lo, …, hi-1.
func newCalls[A, R any](w *Worker, lo, hi place) []*call[A, R] {
	exec := execCall[A, R]
	if w.core.watch.tellsTasks() {
		exec = execCallObserved[A, R]
	}
	block := make([]call[A, R], hi-lo)
	calls := make([]*call[A, R], hi-lo)
	for i := range block {
		c := &block[i]
		c.Exec, c.owner, c.level = exec, w, w.forks.first()+uint64(lo)+uint64(i)
		calls[i] = c
	}
	return calls
}

// callAt returns the call at a place that the pool may have, or nil.
func (p *callPool[A, R]) callAt(at place) *call[A, R] {
	if i := at - p.base; i < place(len(p.calls)) {
		return p.calls[i]
	}
	return nil
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
	c.fn, c.Body = nil, nil
	return true
}

// reset puts a fork out of use, and makes it ready for its next use.
func (f *fork) reset() {
	f.turn = f.turn&^checkedTurn + 1
	f.frame = 0
	f.joined, f.own, f.skipped = false, false, false
	f.err, f.parent = nil, nil
	if f.state.Load() != 0 {
		f.state.Store(0)
	}
}
