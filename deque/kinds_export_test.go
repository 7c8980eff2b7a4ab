package deque

// NewBWoSAt is newBWoS with block numbers that start at start instead of zero.
func NewBWoSAt[T any](capacity, size int, start uint64) *bwos[T] {
	d := newBWoS[T](capacity, size)
	d.ring.startAt(start)
	d.number, d.cells = start, d.ring.at(start).cells
	return d
}

// NewBWoSFIFOAt is newBWoSFIFO with block numbers that start at start.
func NewBWoSFIFOAt[T any](capacity, size int, start uint64) *bwosFIFO[T] {
	d := newBWoSFIFO[T](capacity, size)
	d.ring.startAt(start)
	d.in.number, d.in.cells = start, d.ring.at(start).cells
	d.out = d.in
	return d
}

func (r *blockRing[T]) startAt(start uint64) {
	r.first.Store(start)
	for i := range uint64(len(r.blocks)) {
		r.at(start + i).word.Store(r.round(start+i) | closed)
	}
}

// Blocks returns the number of blocks, and of items in each.
func (d *bwos[T]) Blocks() (n, size int) { return len(d.ring.blocks), int(d.ring.size) }

// Blocks returns the number of blocks, and of items in each.
func (d *bwosFIFO[T]) Blocks() (n, size int) { return len(d.ring.blocks), int(d.ring.size) }

// Number returns the number of the owner's block. Owner only.
func (d *bwos[T]) Number() uint64 { return d.number }

// Claim is a Steal that stops between the claim and the read. It returns the rest of the Steal as a function, or nil if
// there is nothing to steal.
func (d *bwos[T]) Claim() (rest func() *T) { return d.ring.claim() }

// Claim is a Steal that stops between the claim and the read. It returns the rest of the Steal as a function, or nil if
// there is nothing to steal.
func (d *bwosFIFO[T]) Claim() (rest func() *T) { return d.ring.claim() }

func (r *blockRing[T]) claim() (rest func() *T) {
	b, w := r.oldest()
	if w&indexMask == closed || !b.word.CompareAndSwap(w, w+1) {
		return nil
	}
	return func() *T { return b.yield(w & indexMask) }
}

// Occupied returns the number of cells that are not nil. Owner only, while no thief is active.
func (d *bwos[T]) Occupied() int { return d.ring.occupied() }

// Occupied returns the number of cells that are not nil. Owner only, while no thief is active.
func (d *bwosFIFO[T]) Occupied() int { return d.ring.occupied() }

func (r *blockRing[T]) occupied() (n int) {
	for i := range r.blocks {
		for j := range r.blocks[i].cells {
			if r.blocks[i].cells[j].Get() != nil {
				n++
			}
		}
	}
	return n
}

// NewABPAt is newABP with tags that start at tag.
func NewABPAt[T any](capacity int, tag uint64) *abp[T] {
	d := newABP[T](capacity)
	d.age.Store(tag * oneTag)
	return d
}

// Tag returns how often the indices have gone back to the beginning. Owner only.
func (d *abp[T]) Tag() uint64 { return d.age.Load() / oneTag }

// Claim is a Steal that stops between the claim and the read. It returns the rest of the Steal as a function, or nil if
// there is nothing to steal.
func (d *abp[T]) Claim() (rest func() *T) {
	a := d.age.Load()
	if d.bottom.Load() <= a&topMask || !d.age.CompareAndSwap(a, a+1) {
		return nil
	}
	return func() *T { return d.slots[a&topMask].Yield() }
}

// Occupied returns the number of slots that are not nil. Owner only, while no thief is active.
func (d *abp[T]) Occupied() (n int) {
	for i := range len(d.slots) - 1 {
		if !d.slots[i].Free() {
			n++
		}
	}
	return n
}

// Occupied returns the number of slots that are not nil.
func (d *locked[T]) Occupied() (n int) {
	for _, p := range d.ring {
		if p != nil {
			n++
		}
	}
	return n
}

// Occupied returns the number of items, that in the mailbox included. Owner only, while no thief is active.
func (d *adws[T]) Occupied() int { return d.own.occupied() + d.Len() }

// Blocks returns the number of blocks, and of items in each.
func (d *padWS[T]) Blocks() (n, size int) { return len(d.blocks), int(d.size) }
