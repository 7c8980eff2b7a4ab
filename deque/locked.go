package deque

import (
	"math/bits"

	"github.com/magpie-go/magpie/internal/xsync"
)

// A Locked is a growable deque under a mutex: the yardstick that the other kinds are measured with, and so plain that
// tests take its word for what they should have said. Make one with [NewLocked]; a Locked must not be copied.
//
// Its answers are exact and final under the lock: no Steal is Lost. It keeps no pointer that was popped or stolen alive,
// and its ring never shrinks. A thread that is suspended inside a call holds up all others.
type Locked[T any] struct {
	mu    xsync.Mutex
	ring  []*T // a power of two
	top   int  // where the oldest item is
	count int  // of items
	fresh int  // items pushed since the last Poll
}

// NewLocked returns an empty deque with room for at least capacity items before it grows for the first time.
func NewLocked[T any](capacity int) *Locked[T] {
	return &Locked[T]{ring: make([]*T, 1<<bits.Len(uint(max(capacity, minCapacity)-1)))}
}

// at is the slot of the i-th item from the top.
func (d *Locked[T]) at(i int) **T { return &d.ring[(d.top+i)&(len(d.ring)-1)] }

// Push adds p, which must not be nil, at the bottom, and returns true. Everything before the Push happens before the Pop or
// Steal that returns p.
//
// Any thread, though the other kinds leave it to the owner.
func (d *Locked[T]) Push(p *T) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.count == len(d.ring) {
		larger := make([]*T, 2*d.count)
		n := copy(larger, d.ring[d.top:])
		copy(larger[n:], d.ring[:d.top])
		d.ring, d.top = larger, 0
	}
	*d.at(d.count) = p
	d.count++
	d.fresh++
	return true
}

// Pop removes the item pushed last, or returns nil if there is none.
//
// Any thread, though the other kinds leave it to the owner.
func (d *Locked[T]) Pop() *T {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.count == 0 {
		return nil
	}
	d.count--
	slot := d.at(d.count)
	p := *slot
	*slot = nil
	return p
}

// Steal removes the item pushed first. It is Stolen or Empty.
//
// Any thread.
func (d *Locked[T]) Steal() (*T, Outcome) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.count == 0 {
		return nil, Empty
	}
	return d.takeOldest(), Stolen
}

// takeOldest is called with the lock held, if there are items.
func (d *Locked[T]) takeOldest() *T {
	slot := d.at(0)
	p := *slot
	*slot = nil
	d.top = (d.top + 1) & (len(d.ring) - 1)
	d.count--
	return p
}

// Poll returns how many items were pushed since the last call. Any thread.
func (d *Locked[T]) Poll() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := d.fresh
	d.fresh = 0
	return n
}

// Wanted reports whether there was no item at some moment during the call. Any thread.
func (d *Locked[T]) Wanted() bool { return d.IsEmpty() }

// Offers is the contrary. Any thread.
func (d *Locked[T]) Offers() bool { return !d.IsEmpty() }

// StealBatch removes the oldest items, oldest first, and returns how many: of all that there are, what batch says. It is
// Stolen or Empty.
//
// Any thread.
func (d *Locked[T]) StealBatch(into []*T, batch Batch) (int, Outcome) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.count == 0 {
		return 0, Empty
	}
	n := batch.of(d.count, len(into))
	for i := range n {
		into[i] = d.takeOldest()
	}
	return n, Stolen
}

// Len is the number of items at some moment during the call. Any thread.
func (d *Locked[T]) Len() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.count
}

// IsEmpty reports whether there was no item at some moment during the call. Any thread.
func (d *Locked[T]) IsEmpty() bool { return d.Len() == 0 }
