package deque

// A bwos is a bounded work-stealing deque in blocks: one owner pushes and pops at the bottom, any thread steals at the
// top. It must not be copied.
//
// It is the last-in-first-out variant of Wang and others (BWoS: Formally Verified Block-based Work Stealing for
// Parallel Processing, OSDI 2023), after stdexec's bwos_lifo_queue (commit e92245d5). protocol/bwos.md tells the
// differences. The owner works in one block, where it needs no atomic operation. Thieves work in the oldest of the
// other blocks. So owner and thieves meet only when the owner goes from one block to the next. The price is that
// thieves see nothing of the owner's block: up to a block of items stays hidden, also while the owner runs something
// that takes long.
//
// Going on to the next block costs one locked instruction, and three more if thieves have emptied that block since the
// owner was there last. Going back costs one. The deque keeps no pointer that was popped or stolen alive.
type bwos[T any] struct {
	// The blocks from first up to the owner's have been granted to thieves. They are full, except for the items that
	// were stolen from the oldest. The blocks above the owner's are empty.
	ring blockRing[T] // first: see pad.Line

	// Owner only, plain on purpose: the race detector checks the claim.
	number  uint64 // of the owner's block
	Near[T]        // the owner's block; thieves do not ask
}

// newBWoS returns an empty deque for at least capacity items, in at least two blocks of size items each. Size 0 means
// [blockSize]. A block has at most [maxBlock] items.
func newBWoS[T any](capacity, size int) *bwos[T] {
	d := &bwos[T]{}
	d.ring.init(capacity, size)
	d.cells = d.ring.at(0).cells
	return d
}

// Push adds p, which must not be nil, at the bottom. It is Refused if the owner's block is full, and the next block has
// items or a thief that still has to read one. It is Shown if the owner goes on to the next block, which grants the
// block before. Everything before the Push happens before the return of the Pop or Steal that returns p.
//
// Owner only.
func (d *bwos[T]) Push(p *T) Effect {
	if d.next == uint(len(d.cells)) {
		return d.pushAbove(p)
	}
	d.Near.Push(p)
	return Nothing
}

// pushAbove is Push when the owner's block is full.
func (d *bwos[T]) pushAbove(p *T) Effect {
	if !d.advance() {
		return Refused
	}
	d.cells[0].Set(p)
	d.next = 1
	return Shown
}

// Pop removes the item pushed last, or returns nil if there is none.
//
// Owner only.
func (d *bwos[T]) Pop() (*T, Effect) {
	if d.next == d.low && !d.retreat() {
		return nil, Nothing
	}
	return d.Near.Pop(), Nothing
}

// advance grants the owner's block, which is full, to thieves and goes on to the next. It returns false if the next
// block is not free.
//
// Owner only.
func (d *bwos[T]) advance() bool {
	r := &d.ring
	b := r.next(d.number + 1)
	if b == nil {
		return false
	}
	r.at(d.number).word.Store(r.round(d.number) | uint64(d.low)) // P20: grants what is above low
	d.number++
	d.cells, d.low, d.next = b.cells, 0, 0
	return true
}

// retreat leaves the owner's block, which is empty, and takes the block below back from thieves. It returns false if no
// item is left there: then no block has any.
//
// Owner only.
func (d *bwos[T]) retreat() bool {
	r := &d.ring
	if r.isExhausted(d.number) {
		return false
	}
	b := r.at(d.number - 1)
	// C21: the cells that are not claimed yet are the owner's from here on. A load and then a store would lose a claim
	// in between: a thief and the owner would have the same item.
	w := b.word.Swap(r.round(d.number-1) | closed)
	low := w & indexMask
	if low == r.size {
		// Thieves were faster. Exhausted is final: a thief that has seen it moves first past this block.
		b.word.Store(w)
		return false
	}
	d.number--
	d.cells, d.low, d.next = b.cells, uint(low), uint(len(b.cells))
	return true
}

// Poll does nothing: the owner grants items only when its block is full. Owner only.
func (d *bwos[T]) Poll() Effect { return Nothing }

// Wanted reports whether there is nothing to steal. Owner only.
func (d *bwos[T]) Wanted() bool { return d.ring.isExhausted(d.number) }

// Steal removes the item pushed first. If that is in the owner's block, the deque is Empty for thieves. Lost says
// nothing about the items that are left: it may pay to try again.
//
// Any thread, the owner's included.
func (d *bwos[T]) Steal() (*T, Outcome) { return d.ring.steal() }

// StealBatch removes several items of the oldest block, oldest first, and returns their number. Batch says how many of
// the items that are left in the block.
//
// Any thread, the owner's included.
func (d *bwos[T]) StealBatch(into []*T, batch Batch) (int, Outcome) {
	return d.ring.stealBatch(into, batch)
}

// Ask reports whether there was an item to steal at some moment during the call. If not, the owner's block may still
// have items. Any thread.
func (d *bwos[T]) Ask() bool { return d.ring.offers() }

// Len returns about the number of items outside the owner's block. Any thread.
func (d *bwos[T]) Len() int { return d.ring.len() }

var bwosRow = row{
	name:   "bwos",
	about:  "bounded, in blocks: thieves never see the owner's block",
	traits: traits{hides: true, bounded: true, blocks: true, batches: true},
}

func bwosQueues[T any](_ int, o Options) func(int) Queue[T] {
	return func(int) Queue[T] { return newBWoS[T](o.Capacity, o.BlockSize) }
}
