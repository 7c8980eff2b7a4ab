package deque

// Steal removes the oldest item that thieves may claim. [NotReady] means that the owner has to answer first.
// [Empty] means that thieves have taken all items of the owner's block and below. After both a request stands. [Lost]
// means that it may pay to try again.
//
// Any thread, the owner's included.
func (d *padWS[T]) Steal() (*T, Outcome) {
	f, outcome := d.find()
	if outcome != Stolen {
		return nil, outcome
	}
	b, s := f.block, f.claim
	if !b.claim.CompareAndSwap(s, s+1) { // C2
		return nil, Lost
	}
	item := &b.items[padIndex(s)]
	p := item.Get()
	item.Set(nil) // R2
	b.done.Add(1) // P3: and not before, or the owner's next item there would be lost
	d.askAfter(f, 1)
	return p, Stolen
}

// StealBatch removes several items of the oldest block, oldest first, and returns their number. Batch says how many of
// the items that thieves may claim there. In the owner's block these are the granted items, and the thief asks for as
// many as it takes.
//
// Any thread, the owner's included.
func (d *padWS[T]) StealBatch(into []*T, batch Batch) (int, Outcome) {
	f, outcome := d.find()
	if outcome != Stolen {
		return 0, outcome
	}
	b, s := f.block, f.claim
	n := batch.of(int(f.grant-s), len(into))
	if !b.claim.CompareAndSwap(s, s+padWord(n)) { // C2: all of them in one step, no more than grant says
		return 0, Lost
	}
	items := b.items[padIndex(s):]
	for i := range n {
		into[i] = items[i].Get()
		items[i].Set(nil) // R2
	}
	b.done.Add(uint32(n)) // P3
	d.askAfter(f, n)
	return n, Stolen
}

// Ask reports whether there was an item to steal at some moment during the call. If not, a request stands, as after
// Steal.
//
// Any thread.
func (d *padWS[T]) Ask() bool {
	_, outcome := d.find()
	return outcome == Stolen || outcome == Lost // Lost: meanwhile thieves have stolen in all blocks
}

// Len returns about the number of items that are granted and not claimed. Any thread.
func (d *padWS[T]) Len() (n int) {
	newest := d.newest.Load()
	for k := d.oldest.Load(); k <= newest; k++ {
		b := d.block(k)
		s := b.claim.Load()
		if g := b.grant.Load(); isGranted(s, g) {
			n += int(g - s)
		}
	}
	return n
}

// A padFind is a run of items that a thief may claim.
type padFind[T any] struct {
	block        *padBlock[T]
	claim, grant padWord // of one epoch: the first item, and one past the last
	number       int64   // of the block
}

// find finds the oldest items that thieves may claim. The outcome is Stolen if there are any, otherwise that of Steal.
func (d *padWS[T]) find() (padFind[T], Outcome) {
	for range len(d.blocks) + 1 {
		k := d.oldest.Load()
		b := d.block(k)
		// What is granted may be claimed wherever the owner is: in a block above the owner's nothing is (I45).
		if s, g := b.claim.Load(), b.grant.Load(); isGranted(s, g) {
			return padFind[T]{b, s, g, k}, Stolen
		}
		newest := d.newest.Load()
		if k > newest { // the owner's block is exhausted, and was passed when there was one above it
			d.ask()
			return padFind[T]{}, Empty
		}
		s := b.claim.Load() // again, after newest: before it, block k may have been that of an older number
		if padIndex(s) == d.size {
			if k == newest {
				d.ask()
				return padFind[T]{}, Empty
			}
			d.oldest.CompareAndSwap(k, k+1) // I47; if it fails, another thread has done it
			continue
		}
		g := b.grant.Load()
		if !isGranted(s, g) {
			d.ask()
			return padFind[T]{}, NotReady
		}
		return padFind[T]{b, s, g, k}, Stolen
	}
	return padFind[T]{}, Lost
}

// askAfter leaves n requests, for the next steals of any thief, after n items of f were taken, if the block is still
// the owner's. The owner writes newest at every boundary, so a thief does not read it where the owner has granted the
// whole block and more of that is left to take.
func (d *padWS[T]) askAfter(f padFind[T], n int) {
	if (padIndex(f.grant) != d.size || padIndex(f.claim)+uint(n) == d.size) && f.number == d.newest.Load() {
		d.asked.Add(uint32(n))
	}
}

// ask leaves a request unless there is one.
//
// L1: from here on a request stands until an operation of the owner grants an item for it and returns Shown. So a thief
// that has prepared to sleep, then called Steal or Ask, and got nothing, may sleep: the owner notifies.
func (d *padWS[T]) ask() {
	if d.asked.Load() == 0 {
		d.asked.Add(1)
	}
}
