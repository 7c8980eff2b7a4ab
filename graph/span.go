package graph

import (
	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/internal/pad"
	"github.com/magpie-go/magpie/internal/xatomic"
)

// A spanItem stands for a set of ready tasks that are neighbours in succ, so that a task with a million successors
// pushes one item and not a million.
//
// Its item is always in a deque, or in the hands of a worker that is about to push it again or has found it empty. The
// worker that made it claims tasks from the front, one at a time, also while the item is elsewhere; a thief that gets
// the item takes the upper half. So no ready task is ever hidden behind one that runs.
type spanItem struct {
	executor.Item // first: see spanOf
	tasks         xatomic.Span
	owner         xatomic.Plain[int] // the worker that claims from it
	refs          xatomic.Int32      // its place in a deque, and the owner while attached; whoever drops the last pools it
	free          *spanItem          // next in a pool
	_             pad.Line           // two workers' spans must not share a line: 60 ns a task instead of 12
}

// fanOut releases the ready tasks at first, …, end-1 of succ as a span and claims the first of them.
func (r *runState) fanOut(w *executor.Worker, l *local, first, end uint32) *executor.Item {
	if r.Run().Shuffled() {
		for _, i := range r.succ[first:end] {
			w.Push(&r.records[i].Item)
		}
		return nil
	}
	l.detach()
	l.done-- // the span counts; made up for when it is found empty
	s := r.newSpan(w, l, first, end)
	l.attach(s)
	w.Push(&s.Item)
	return r.claim(w, l)
}

// execRoot releases the sources.
func execRoot(w *executor.Worker, it *executor.Item) *executor.Item {
	r := stateOf(it.Body)
	r.Run().Uncount(w)
	l := &r.locals[w.ID()]
	l.done++ // the root
	edges := uint32(r.plan.Edges())
	return r.fanOut(w, l, edges, uint32(len(r.succ)))
}

// execSpan goes on with a span that came out of a deque.
func execSpan(w *executor.Worker, it *executor.Item) *executor.Item {
	s := spanOf(it)
	r := stateOf(it.Body)
	r.Run().Uncount(w)
	l := &r.locals[w.ID()]
	if s.tasks.IsEmpty() {
		l.done++
		l.drop(s)
		return nil
	}
	if s.owner.Get() == w.ID() {
		if l.span != s {
			l.detach()
			s.refs.Add(1)
			l.attach(s)
		}
		w.Push(it)
		return r.claim(w, l)
	}
	lo, hi, ok := s.tasks.Halve()
	if !ok {
		l.done++
		l.drop(s)
		return nil
	}
	if hi-lo == 1 {
		if s.tasks.IsEmpty() {
			l.done++
			l.drop(s)
		} else {
			r.push(w, l, it)
		}
		return &r.records[r.succ[lo]].Item
	}
	r.push(w, l, it) // what is left of it is the smaller half
	// The new span counts at once: a worker that finds it empty may bring that to left before this one brings anything.
	r.left.In(1)
	half := r.newSpan(w, l, lo, hi)
	l.attach(half)
	w.Push(&half.Item)
	return r.claim(w, l)
}

// claim takes the next task of the worker's span, or nothing if it is used up.
func (r *runState) claim(w *executor.Worker, l *local) *executor.Item {
	if t := r.claimRecord(w, l); t != nil {
		return &t.Item
	}
	return nil
}

func (r *runState) claimRecord(w *executor.Worker, l *local) *record {
	s := l.span
	var i uint32
	var ok bool
	if r.Run().Alone(w) {
		i, ok = s.tasks.ClaimAlone()
	} else {
		i, ok = s.tasks.Claim()
	}
	if !ok {
		l.detach()
		return nil
	}
	return &r.records[r.succ[i]]
}

// releaseInSpan ends a task whose only successor is s while the worker claims from a span. If the next task of the span
// precedes s too, and nothing else, counting down can wait for it: s cannot become ready before. A join of a million
// tasks is then not hit a million times.
func (r *runState) releaseInSpan(w *executor.Worker, l *local, s *record) *executor.Item {
	if l.owedTo != s {
		if other := l.settle(); other != nil {
			w.Push(&other.Item)
		}
		if s.join.Last() {
			return &s.Item // ready, and in the cache; the rest of the span is there for others meanwhile
		}
	}
	l.owed++
	l.owedTo = s
	next := r.claimRecord(w, l)
	if next != nil && r.precedesOnly(next, s) {
		return &next.Item
	}
	ready := l.settle()
	switch {
	case next == nil && ready == nil:
		return nil
	case next == nil:
		return &ready.Item
	case ready != nil:
		r.push(w, l, &ready.Item)
	}
	return &next.Item
}

// precedesOnly reports whether s is t's only successor.
func (r *runState) precedesOnly(t, s *record) bool {
	return t.succ>>succShift == 1 && &r.records[r.succ[t.succ&succMask]] == s
}

// settle counts down what is owed to owedTo. It returns that task if this made it ready.
func (l *local) settle() (ready *record) {
	ready = l.owedTo
	n := l.owed
	l.owedTo, l.owed = nil, 0
	if ready == nil || n == 1 && ready.join.Last() || ready.join.Done(n) {
		return ready
	}
	return nil
}

// newSpan makes a span that its caller will attach and push.
func (r *runState) newSpan(w *executor.Worker, l *local, lo, hi uint32) *spanItem {
	s := l.pool
	if s == nil {
		s = &spanItem{Item: executor.Item{Exec: execSpan, Body: &r.Body}}
	} else {
		l.pool, s.free = s.free, nil
	}
	s.owner.Set(w.ID())
	s.refs.Store(2)
	s.tasks.Set(lo, hi)
	return s
}

// attach makes s, on which the caller holds a reference for it, the span that the worker claims from.
func (l *local) attach(s *spanItem) { l.span = s }

// detach ends claiming from the worker's span, if it has one.
func (l *local) detach() {
	if s := l.span; s != nil {
		l.span = nil
		l.drop(s)
	}
}

// drop gives up one reference to s.
func (l *local) drop(s *spanItem) {
	if s.refs.Add(-1) == 0 {
		s.free, l.pool = l.pool, s
	}
}
