package deque

import (
	"github.com/magpie-go/magpie/internal/pad"
	"github.com/magpie-go/magpie/internal/xatomic"
)

// A bwosFIFO is a bounded work-stealing queue in blocks: one owner pushes and pops, first in first out, and any thread
// steals. It must not be copied.
//
// It is the first-in-first-out variant of Wang and others (BWoS: Formally Verified Block-based Work Stealing for
// Parallel Processing, OSDI 2023). The owner puts items into one block and takes items from another, the oldest. In
// both it needs no atomic operation. Thieves take items from the oldest of the blocks between the two, and see nothing
// of the owner's two blocks. In the authors' code for tokio (pull request 5283) thieves see the block that the owner
// puts items into, at the price of publishing every push.
//
// Going on to the next block costs four locked instructions for pushing and two for popping. The queue keeps no pointer
// that was popped or stolen alive.
type bwosFIFO[T any] struct {
	// The blocks between out's and in's have been granted to thieves. They are full, except for the items that were
	// stolen from the oldest. The blocks below are exhausted, and so is out's unless it is also in's.
	ring blockRing[T] // first: see pad.Line

	// Owner only, plain on purpose: the race detector checks the claim.
	in, out fifoEnd[T]
	_       pad.Line
}

// A fifoEnd is the place where the owner puts items, or the place where it takes them.
type fifoEnd[T any] struct {
	cells  []xatomic.Plain[*T] // of the block
	next   int                 // the cell to fill, or to empty
	number uint64              // of the block
	low    int                 // out: the first cell that is not a thief's
}

// newBWoSFIFO returns an empty queue for at least capacity items. Its blocks are like those of [newBWoS].
func newBWoSFIFO[T any](capacity, size int) *bwosFIFO[T] {
	d := &bwosFIFO[T]{}
	d.ring.init(capacity, size)
	d.in.cells = d.ring.at(0).cells
	d.out.cells = d.in.cells
	return d
}

// Push adds p, which must not be nil. It is Refused if the block is full, and the next block has items or a thief that
// still has to read one. It is Shown if the owner leaves a block, which is granted. Everything before the Push happens
// before the return of the Pop or Steal that returns p.
//
// Owner only.
func (d *bwosFIFO[T]) Push(p *T) Effect {
	if d.in.next == len(d.in.cells) {
		return d.pushBehind(p)
	}
	d.in.cells[d.in.next].Set(p)
	d.in.next++
	return Nothing
}

// pushBehind is Push when the block that the owner fills is full.
func (d *bwosFIFO[T]) pushBehind(p *T) Effect {
	effect := d.advance()
	if effect != Refused {
		d.in.cells[0].Set(p)
		d.in.next = 1
	}
	return effect
}

// Pop removes the item pushed first, or returns nil if there is none.
//
// Owner only.
func (d *bwosFIFO[T]) Pop() (*T, Effect) {
	for d.out.number != d.in.number && d.out.next == len(d.out.cells) {
		d.follow()
	}
	if d.out.number == d.in.number && d.out.next == d.in.next {
		return nil, Nothing
	}
	d.out.next++
	return take(&d.out.cells[d.out.next-1]), Nothing
}

// advance grants the block that the owner has filled to thieves, unless the owner takes items from it, and goes on to
// the next. If the owner has also emptied the block, it begins the block anew instead. It is Refused if the next block
// is not free.
//
// Owner only.
func (d *bwosFIFO[T]) advance() Effect {
	if d.out.number == d.in.number && d.out.next == d.in.next {
		d.out.next, d.in.next = 0, 0 // thieves have never been here
		return Nothing
	}
	r := &d.ring
	n := d.in.number
	b := r.next(n + 1)
	if b == nil {
		return Refused
	}
	index, effect := uint64(0), Shown
	if d.out.number == n {
		index, effect = r.size, Nothing
	}
	r.at(n).word.Store(r.round(n) | index) // P20
	d.in = fifoEnd[T]{cells: b.cells, number: n + 1}
	return effect
}

// follow leaves a block from which all items have been taken, and goes on to the next, which may be empty as well. It
// takes the next block from thieves, unless that is the block that the owner fills.
//
// Owner only.
func (d *bwosFIFO[T]) follow() {
	r := &d.ring
	if mine := len(d.out.cells) - d.out.low; mine > 0 {
		r.at(d.out.number).done.Add(uint32(mine)) // P21: for the owner itself, when thieves have done their part
	}
	n := d.out.number + 1
	b := r.at(n)
	low := 0
	if n != d.in.number {
		// C21: the cells that are not claimed yet are the owner's from here on, and no item is left for thieves.
		low = int(b.word.Swap(r.round(n)|r.size) & indexMask)
	}
	d.out = fifoEnd[T]{cells: b.cells, next: low, number: n, low: low}
}

// Poll does nothing: the owner grants items only when its block is full. Owner only.
func (d *bwosFIFO[T]) Poll() Effect { return Nothing }

// Wanted reports whether there is nothing to steal. Owner only.
func (d *bwosFIFO[T]) Wanted() bool { return d.ring.isExhausted(d.in.number) }

// Steal removes the oldest item outside the owner's blocks. If there is none, the queue is Empty for thieves. Lost says
// nothing about the items that are left: it may pay to try again.
//
// Any thread, the owner's included.
func (d *bwosFIFO[T]) Steal() (*T, Outcome) { return d.ring.steal() }

// StealBatch removes several items of the oldest block, oldest first, and returns their number. Batch says how many of
// the items that are left in the block.
//
// Any thread, the owner's included.
func (d *bwosFIFO[T]) StealBatch(into []*T, batch Batch) (int, Outcome) {
	return d.ring.stealBatch(into, batch)
}

// Ask reports whether there was an item to steal at some moment during the call. If not, the owner's blocks may still
// have items. Any thread.
func (d *bwosFIFO[T]) Ask() bool { return d.ring.offers() }

// Len returns about the number of items outside the owner's blocks. Any thread.
func (d *bwosFIFO[T]) Len() int { return d.ring.len() }

var bwosFIFORow = row{
	name:   "bwos-fifo",
	about:  "the same, first in first out for the owner too",
	traits: traits{hides: true, fifo: true, bounded: true, blocks: true, batches: true},
}

func bwosFIFOQueues[T any](_ int, o Options) func(int) Queue[T] {
	return func(int) Queue[T] { return newBWoSFIFO[T](o.Capacity, o.BlockSize) }
}
