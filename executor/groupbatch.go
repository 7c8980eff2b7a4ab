package executor

import "github.com/magpie-go/magpie/internal/xsync"

// remove takes function i out of the batch, which must not keep it alive.
func (b *groupBatch) remove(i uint32) groupFunction {
	f := b.functions[i]
	b.functions[i] = groupFunction{}
	return f
}

// openBatch makes a batch of several functions available, of which the worker claims the first. All are counted in.
func (r *groupRun) openBatch(w *Worker, b *groupBatch, n int) *Item {
	b.next = nil
	b.Exec, b.Body = execBatch, &r.Body
	b.waiting.Set(0, uint32(n))
	b.owner.Set(w.id)
	b.refs.Store(2)
	partsOf(w).attach(b)
	return r.claim(w)
}

// execBatch runs the item of a batch: the owner claims a function, and another worker takes half of them.
func execBatch(w *Worker, it *Item) *Item {
	b := groupBatchOf(it)
	r := groupRunOf(it.Body)
	r.Run().Uncount(w)
	p := partsOf(w)
	if b.owner.Get() == w.id && !b.waiting.IsEmpty() {
		if p.batch != b {
			b.refs.Add(1)
		} else {
			p.batch = nil
		}
		p.attach(b)
		return r.claim(w)
	}
	lo, hi, ok := b.waiting.Halve()
	if !ok {
		p.futures++
		p.drop(b)
		return nil
	}
	if hi-lo == 1 {
		f := b.remove(lo)
		w.Push(it)
		return &r.task(w, f).Item
	}
	half := executorOf(w.core).groupBatches.get()
	for i := range hi - lo {
		half.functions[i] = b.remove(lo + i)
	}
	r.left.In(1) // the item of half
	w.Push(it)
	return r.openBatch(w, half, int(hi-lo))
}

// claim takes the next function of the worker's batch, or returns nil if the batch is empty.
func (r *groupRun) claim(w *Worker) *Item {
	p := partsOf(w)
	i, ok := p.batch.waiting.Claim()
	if !ok {
		p.detach()
		return nil
	}
	return &r.task(w, p.batch.remove(i)).Item
}

// claimFor makes the next function of the worker's batch one of t, which has ended, and reports whether there is one.
// What the worker's tasks have pushed comes first.
func (p *workerParts) claimFor(t *groupTask) bool {
	b := p.batch
	if b.Body != t.Body || p.lane.Mark() != p.batchMark {
		return false
	}
	i, ok := b.waiting.Claim()
	if !ok {
		p.detach()
		return false
	}
	t.groupFunction = b.remove(i)
	return true
}

// attach pushes the item of b, from which the worker then claims. It takes over a reference of the caller's.
func (p *workerParts) attach(b *groupBatch) {
	p.detach()
	p.batch = b
	p.Push(&b.Item)
	p.batchMark = p.lane.Mark()
}

// detach makes the worker stop claiming from its batch, if it has one.
func (p *workerParts) detach() {
	if b := p.batch; b != nil {
		p.batch = nil
		p.drop(b)
	}
}

// drop gives up one reference to b.
func (p *workerParts) drop(b *groupBatch) {
	if b.refs.Add(-1) == 0 {
		b.Body = nil
		executorOf(p.core).groupBatches.put(b)
	}
}

// A groupBatchStore holds empty batches.
type groupBatchStore struct {
	mu    xsync.Mutex // guards what follows
	first *groupBatch // n of them
	n     int
}

// get returns an empty batch.
func (s *groupBatchStore) get() *groupBatch {
	s.mu.Lock()
	b := s.first
	if b != nil {
		s.first, b.next = b.next, nil
		s.n--
	}
	s.mu.Unlock()
	if b == nil {
		b = &groupBatch{}
	}
	return b
}

// put keeps a batch all of whose functions were removed, unless there are many.
func (s *groupBatchStore) put(b *groupBatch) {
	s.mu.Lock()
	if s.n < maxStoredBatches {
		b.next, s.first = s.first, b
		s.n++
	}
	s.mu.Unlock()
}
