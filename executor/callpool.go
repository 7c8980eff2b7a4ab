package executor

import "math"

// A callPool has a worker's calls of one type. The fork in use at each level of the worker is in one of its pools, at
// the place of that level. So a pool needs no count of what is in use, and the levels are those of a stack.
type callPool[A, R any] struct {
	calls []*call[A, R] // by place; not nil
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

// callBlock is how many neighbouring calls are made at once.
const callBlock = 16

// callAt returns the call at the place. It makes those up to the place that are not there.
func (p *callPool[A, R]) callAt(w *Worker, at place) *call[A, R] {
	if at >= math.MaxInt32-callBlock { // places of levels further apart would be the same
		panic("executor: a worker has more than two billion forks that are not joined")
	}
	if n := int(at) + 1 - len(p.calls); n > 0 {
		exec := execCall[A, R]
		if w.core.watch.tellsTasks() {
			exec = execCallObserved[A, R]
		}
		block := make([]call[A, R], (n+callBlock-1)/callBlock*callBlock)
		for i := range block {
			c := &block[i]
			c.Exec, c.owner, c.level = exec, w, w.forks.first()+uint64(len(p.calls))
			p.calls = append(p.calls, c)
		}
	}
	return p.calls[at]
}

func (p *callPool[A, R]) at(at place) *fork {
	if int(at) < len(p.calls) {
		if c := p.calls[at]; c.frame != 0 {
			return &c.fork
		}
	}
	return nil
}

func (p *callPool[A, R]) drop(at place) {
	var noArg A
	var noResult R
	c := p.calls[at]
	c.arg, c.result = noArg, noResult
	c.reset()
}

func (p *callPool[A, R]) forget(at place) bool {
	if int(at) >= len(p.calls) || p.calls[at].fn == nil {
		return false
	}
	c := p.calls[at]
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
