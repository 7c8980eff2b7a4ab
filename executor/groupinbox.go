package executor

import (
	"context"

	"github.com/magpie-go/magpie/internal/osthread"
)

// Functions from outside, in a group without a limit, wait for a worker in batches. Go adds to the newest batch, under
// a lock. A worker takes the oldest, see groupbatch.go.

// add puts a function into the newest batch, and reports whether it is the first there, behind another batch. The
// caller holds mu.
func (q *groupQueue) add(fn func() error, cfn func(context.Context) error, s *groupBatchStore) (behind bool) {
	if q.newest == nil || q.filled == maxBatch {
		q.grow(s)
	}
	f := &q.newest.functions[q.filled]
	if fn != nil {
		f.fn = fn
	} else {
		f.cfn = cfn
	}
	q.filled++
	return q.filled == 1 && q.oldest != q.newest
}

// grow adds an empty batch. The caller holds mu.
func (q *groupQueue) grow(s *groupBatchStore) {
	b := s.get()
	if q.newest == nil {
		q.oldest = b
	} else {
		q.newest.next = b
		if q.oldest == q.newest {
			q.full.Store(true)
		}
	}
	q.newest, q.filled = b, 0
}

// takeBatch takes the oldest batch, with n functions. It returns nil if there is none. The caller holds mu.
func (q *groupQueue) takeBatch() (b *groupBatch, n int) {
	b = q.oldest
	switch {
	case b == nil:
		return nil, 0
	case b == q.newest:
		q.oldest, q.newest = nil, nil
		return b, q.filled
	}
	q.oldest = b.next
	if q.oldest == q.newest {
		q.full.Store(false)
	}
	return b, maxBatch
}

// give gives a function from outside to an inbox that calls, and reports whether there is one. An inbox that calls has
// a unit of its run, so the function needs none.
func (g *Group) give(fn func() error, cfn func(context.Context) error) bool {
	if g.ex.closed.Load() {
		return false
	}
	g.mu.Lock()
	calls := g.calls
	behind := calls && g.groupQueue.add(fn, cfn, &g.ex.groupBatches)
	g.mu.Unlock()
	if behind {
		g.run.Load().show() // D1(batch)
	}
	return calls
}

// callFor puts a function from outside into the inbox. It makes the inbox available to workers, or withholds it until
// the caller waits. The caller has counted the function in. Its unit becomes the inbox's.
func (r *groupRun) callFor(fn func() error, cfn func(context.Context) error) {
	g := r.group
	g.mu.Lock()
	// D1(batch): set full, then look for a withheld inbox. Pairs with D1(withhold).
	behind := g.groupQueue.add(fn, cfn, &g.ex.groupBatches)
	called, isFirst := g.calls, !r.asked
	g.calls, r.asked = true, true
	g.mu.Unlock()
	if called {
		if behind { // the inbox may have come meanwhile
			r.show()
		}
		r.out(1)
	} else if !isFirst || !r.withhold(groupFunction{fn, cfn}) {
		g.ex.inject(&r.inbox)
	}
}

// execInbox takes a batch. If the inbox still calls, it is the first item that thieves find, and then the batch.
func execInbox(w *Worker, it *Item) (next *Item) {
	r := groupRunOf(it.Body)
	r.Run().Uncount(w)
	b, n, calls := r.awaitBatch(w)
	units := int64(n)
	if n > 1 {
		units++ // the batch's item
	}
	if !calls {
		units-- // the inbox's own
	}
	if units > 0 {
		r.left.In(units)
	} else if units < 0 {
		partsOf(w).futures++
	}
	if calls {
		w.Push(it)
	}
	switch {
	case n == 0:
		return nil
	case n == 1:
		f := b.remove(0)
		executorOf(w.core).groupBatches.put(b)
		return &r.task(w, f).Item
	}
	return r.openBatch(w, b, n)
}

// awaitBatch takes the oldest batch, which has n functions; n is 0 if there is none. calls says whether the inbox still
// calls.
//
// The inbox calls after a batch of several functions: others may come meanwhile, and to inject the inbox anew costs the
// caller of Go several times as much as to add a function. If the batch before was the only one, awaitBatch first waits
// a moment for a full one. Meanwhile it keeps off what callers of Go write. Where a caller waits for the group, no
// others are expected.
func (r *groupRun) awaitBatch(w *Worker) (b *groupBatch, n int, calls bool) {
	g := r.group
	if g.drained {
		for looks := 0; looks < inboxLooks && !g.full.Load() && r.mayStay(w); looks++ {
			for range inboxPause {
				osthread.Yield()
			}
		}
	}
	g.mu.Lock()
	b, n = g.takeBatch()
	calls = g.oldest != nil || n > 1 && r.open.Load() == 1
	g.calls, g.drained = calls, calls && g.oldest == nil
	g.mu.Unlock()
	return b, n, calls
}

// mayStay reports whether worker w may wait for functions from outside: nobody waits for the group, and w has nothing
// else to do.
func (r *groupRun) mayStay(w *Worker) bool {
	return r.open.Load() == 1 && w.waits.run == nil && w.core.injector.isEmpty()
}
