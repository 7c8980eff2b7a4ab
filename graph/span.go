package graph

import (
	"slices"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/internal/pad"
	"github.com/magpie-go/magpie/internal/xatomic"
)

// A spanItem is a span: a set of ready tasks that are neighbours in succ. A task with a million successors pushes one
// item instead of a million, or a thousand if some of the successors have other predecessors.
//
// The item of a span is always in a deque, or a worker has just taken it out and pushes it again or finds it empty. The
// worker that made the span claims tasks from the front, one at a time, wherever the item is. A thief that gets the
// item takes the upper half. So no ready task is ever hidden behind a task that runs.
type spanItem struct {
	executor.Item // first: see spanOf
	tasks         xatomic.Span
	owner         xatomic.Plain[int] // the worker that claims from it
	refs          xatomic.Int32      // one for the item, one for the owner while attached; the last drop pools the span
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

// releaseMany is release for a task with more than a few successors. Those that become ready and are neighbours are
// pushed as spans. A span ends after maxPiece tasks, so that thieves see it while the worker counts down the others.
func (r *runState) releaseMany(w *executor.Worker, l *local, t *record) *executor.Item {
	first, end := t.succ&succMask, t.next().succ&succMask
	if t.succ>>succShift == succSpan {
		return r.fanOut(w, l, first, end)
	}
	alone, most := r.Run().Alone(w), uint32(maxPiece)
	if !r.form.spans || r.Run().Shuffled() {
		most = 1
	}
	var next *executor.Item
	behind := end // the last of the neighbours from i on that are ready and not pushed is before it
	for i := end; i > first; i-- {
		ready := r.records[r.succ[i-1]].countDown(alone)
		from := i
		if ready {
			if from--; from > first && behind-from < most {
				continue
			}
		}
		if from < behind {
			next = r.pushPiece(w, l, from, behind, next)
		}
		behind = i - 1
	}
	if next == nil && l.span != nil {
		return r.claim(w, l)
	}
	return next
}

// pushPiece pushes the ready tasks at lo, …, hi-1 of succ: as a span or, if they are few, one by one. It returns the
// task to run next, the first that is in no span. If that is not next, next is pushed.
func (r *runState) pushPiece(w *executor.Worker, l *local, lo, hi uint32, next *executor.Item) *executor.Item {
	if hi-lo >= minSpan {
		r.pushSpan(w, l, lo, hi)
		return next
	}
	for _, i := range slices.Backward(r.succ[lo:hi]) {
		if next != nil {
			r.push(w, l, next)
		}
		next = &r.records[i].Item
	}
	return next
}

// pushSpan makes a span available, from which the worker claims. The span is counted in left at once: another worker
// may find it empty and count it out before this worker flushes.
func (r *runState) pushSpan(w *executor.Worker, l *local, lo, hi uint32) {
	l.detach()
	r.left.In(1)
	s := r.newSpan(w, l, lo, hi)
	l.attach(s)
	w.Push(&s.Item)
}

// execRoot releases the sources.
func execRoot(w *executor.Worker, it *executor.Item) *executor.Item {
	r := stateOf(it.Body)
	r.Run().Uncount(w)
	l := r.local(w)
	l.done++ // the root
	edges := uint32(r.plan.Edges())
	return r.fanOut(w, l, edges, uint32(len(r.succ)))
}

// execSpan runs the item of a span: it claims a task if the span is the worker's own, and otherwise takes half of it.
func execSpan(w *executor.Worker, it *executor.Item) *executor.Item {
	s := spanOf(it)
	r := stateOf(it.Body)
	r.Run().Uncount(w)
	l := r.local(w)
	if s.tasks.IsEmpty() {
		l.done++
		l.drop(s)
		return nil
	}
	if s.owner.Get() == w.Index() {
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
	r.push(w, l, it) // the smaller half is left in it
	r.pushSpan(w, l, lo, hi)
	return r.claim(w, l)
}

// claim takes the next task of the worker's span, or returns nil if the span is empty.
func (r *runState) claim(w *executor.Worker, l *local) *executor.Item {
	if t := r.claimRecord(w, l); t != nil {
		return &t.Item
	}
	return nil
}

func (r *runState) claimRecord(w *executor.Worker, l *local) *record {
	return func() *record { // so that claimRecord is inlined, as executor.Fork is
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
	}()
}

// releaseInSpan ends a task whose only successor is s while the worker claims from a span. If s is also the only
// successor of the next task of the span, the worker counts down both together: s cannot become ready before. So the
// join counter of a task with a million predecessors is not written a million times.
func (r *runState) releaseInSpan(w *executor.Worker, l *local, s *record) *executor.Item {
	if l.owedTo != s {
		if other := l.settle(); other != nil {
			w.Push(&other.Item)
		}
		if s.join.Last() {
			return &s.Item // ready, and in the cache; meanwhile other workers can take the rest of the span
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

// settle counts down the join counter of owedTo by owed. It returns that task if this made it ready.
func (l *local) settle() (ready *record) {
	ready = l.owedTo
	n := l.owed
	l.owedTo, l.owed = nil, 0
	if ready == nil || n == 1 && ready.join.Last() || ready.join.Done(n) {
		return ready
	}
	return nil
}

// newSpan makes a span, which its caller attaches and pushes.
func (r *runState) newSpan(w *executor.Worker, l *local, lo, hi uint32) *spanItem {
	if l.pool == nil {
		r.graph.lendSpans(l)
	}
	s := l.pool
	if s == nil {
		s = &spanItem{Item: executor.Item{Exec: execSpan}}
	} else {
		l.pool, s.free = s.free, nil
		l.pooled--
	}
	s.Body = &r.Body
	s.owner.Set(w.Index())
	s.refs.Store(2)
	s.tasks.Set(lo, hi)
	return s
}

// attach makes s the span that the worker claims from. It takes over a reference of the caller's.
func (l *local) attach(s *spanItem) { l.span = s }

// detach makes the worker stop claiming from its span, if it has one.
func (l *local) detach() {
	if s := l.span; s != nil {
		l.span = nil
		l.drop(s)
	}
}

// drop gives up one reference to s.
func (l *local) drop(s *spanItem) {
	if s.refs.Add(-1) != 0 {
		return
	}
	r := stateOf(s.Body)
	s.Body = nil // the pool may outlast the run
	if l.pooled == maxPooled {
		r.graph.keepSpan(s)
		return
	}
	s.free, l.pool = l.pool, s
	l.pooled++
}

// keepSpan keeps a free span that a worker has too many of. Otherwise thieves, which find spans empty, would collect
// those that the worker with many successors makes in every run.
func (g *Graph) keepSpan(s *spanItem) {
	g.mu.Lock()
	defer g.mu.Unlock()
	s.free, g.spans = g.spans, s
}

// lendSpans moves free spans to the pool of l, which is empty.
func (g *Graph) lendSpans(l *local) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for g.spans != nil && l.pooled < maxPooled {
		s := g.spans
		g.spans, s.free, l.pool = s.free, l.pool, s
		l.pooled++
	}
}
