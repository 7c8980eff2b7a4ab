package deque

import (
	"math/bits"

	"github.com/magpie-go/magpie/internal/xsync"
)

// A locked is a growable deque under a mutex. It is the baseline of the measurements and the oracle of the tests. It
// must not be copied.
//
// Its results are exact under the lock: no Steal is Lost. It keeps no pointer that was popped or stolen alive, and its
// ring never shrinks. A thread that is suspended inside a call holds up all others.
type locked[T any] struct {
	mu    xsync.Mutex
	ring  []*T // a power of two
	top   int  // index of the oldest item
	count int  // of items
}

// newLocked returns an empty deque with room for at least capacity items before it grows for the first time.
func newLocked[T any](capacity int) *locked[T] {
	return &locked[T]{ring: make([]*T, 1<<bits.Len(uint(max(capacity, minCapacity)-1)))}
}

// at returns the slot of the i-th item from the top.
func (d *locked[T]) at(i int) **T { return &d.ring[(d.top+i)&(len(d.ring)-1)] }

// Push adds p, which must not be nil, at the bottom. It is Shown. Everything before the Push happens before the return
// of the Pop or Steal that returns p.
//
// Any thread, unlike other kinds.
func (d *locked[T]) Push(p *T) Effect {
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
	return Shown
}

// Pop removes the item pushed last, or returns nil if there is none.
//
// Any thread, unlike other kinds.
func (d *locked[T]) Pop() (*T, Effect) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.count == 0 {
		return nil, Nothing
	}
	d.count--
	slot := d.at(d.count)
	p := *slot
	*slot = nil
	return p, Nothing
}

// Steal removes the item pushed first. The outcome is Stolen or Empty.
//
// Any thread.
func (d *locked[T]) Steal() (*T, Outcome) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.count == 0 {
		return nil, Empty
	}
	return d.takeOldest(), Stolen
}

// takeOldest removes the oldest item. The caller holds the lock, and there is an item.
func (d *locked[T]) takeOldest() *T {
	slot := d.at(0)
	p := *slot
	*slot = nil
	d.top = (d.top + 1) & (len(d.ring) - 1)
	d.count--
	return p
}

// Poll does nothing: there are no requests. Any thread.
func (d *locked[T]) Poll() Effect { return Nothing }

// Wanted reports whether there was no item at some moment during the call. Any thread.
func (d *locked[T]) Wanted() bool { return d.Len() == 0 }

// Ask reports whether there was an item at some moment during the call. Any thread.
func (d *locked[T]) Ask() bool { return d.Len() != 0 }

// StealBatch removes the oldest items, oldest first, and returns their number. Batch says how many of all items. The
// outcome is Stolen or Empty.
//
// Any thread.
func (d *locked[T]) StealBatch(into []*T, batch Batch) (int, Outcome) {
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

// Len returns the number of items at some moment during the call. Any thread.
func (d *locked[T]) Len() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.count
}

var lockedRow = row{
	name:   "locked",
	about:  "a mutex around everything",
	traits: traits{batches: true},
}

func lockedQueues[T any](_ int, o Options) func(int) Queue[T] {
	return func(int) Queue[T] { return newLocked[T](o.Capacity) }
}
