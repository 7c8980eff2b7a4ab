package deque

import "weak"

// IndexBits is the width of an index.
const IndexBits = 64 - genBits

// MinCapacity is the size of the smallest ring, which is smaller under the model checker.
const MinCapacity = minCapacity

// NewAt is New with indices that start at start instead of zero, and a ring of exactly size slots, a power of two.
func NewAt[T any](size int, start uint64) *Deque[T] {
	d := New[T](size)
	d.startAt(size, start)
	return d
}

func (d *Deque[T]) startAt(size int, start uint64) {
	d.ring = newRing[T](size, 0)
	d.shared.Store(d.ring)
	d.b = start << genBits
	d.bottom.Store(d.b)
	d.top.Store(d.b)
}

// ChaseLev is a Deque as a Queue.
type ChaseLev[T any] = chaseLev[T]

// NewChaseLevAt is NewAt for a ChaseLev.
func NewChaseLevAt[T any](size int, start uint64) *ChaseLev[T] {
	d := newChaseLev[T](size)
	d.startAt(size, start)
	return d
}

// Cap returns the size of the ring. Owner only.
func (d *Deque[T]) Cap() int { return len(d.ring.slots) }

// Generation returns the generation of the ring. Owner only.
func (d *Deque[T]) Generation() int { return int(d.ring.gen) }

// Ring returns a weak pointer to the ring. Owner only.
func (d *Deque[T]) Ring() weak.Pointer[ring[T]] { return weak.Make(d.ring) }

// Occupied returns the number of slots of the ring that are not nil. Owner only, while no thief is active.
func (d *Deque[T]) Occupied() (n int) {
	for i := range d.ring.slots {
		if !d.ring.slots[i].Free() {
			n++
		}
	}
	return n
}

// CheckRest panics if an invariant between two operations does not hold. Owner only.
func (d *Deque[T]) CheckRest() {
	t := d.top.Load()
	switch {
	case d.bottom.Load() != d.b:
		panic("bottom is not what the owner thinks")
	case d.shared.Load() != d.ring:
		panic("thieves see another ring than the owner")
	case t&genMask != d.ring.gen:
		panic("top carries another generation than the ring")
	case d.b&genMask != 0:
		panic("bottom carries a generation")
	case distance(d.b, t) < 0 || distance(d.b, t) > int64(len(d.ring.slots))<<genBits:
		panic("top is not within one ring's size below bottom")
	}
}

// A SlowThief is Steal cut into its steps, so that a test decides what happens between them. The steps are Look, Fetch,
// Claim and Yield, in this order.
type SlowThief[T any] struct {
	d *Deque[T]
	t uint64
	r *ring[T]
}

// NewSlowThief returns a thief that has not begun.
func NewSlowThief[T any](d *Deque[T]) *SlowThief[T] { return &SlowThief[T]{d: d} }

// LookTop loads top.
func (s *SlowThief[T]) LookTop() { s.t = s.d.top.Load() }

// LookBottom loads bottom and reports whether the thief goes on.
func (s *SlowThief[T]) LookBottom() bool { return distance(s.d.bottom.Load(), s.t) > 0 }

// Fetch loads the ring and reports whether the thief goes on.
func (s *SlowThief[T]) Fetch() bool {
	s.r = s.d.shared.Load()
	return s.r.gen == s.t&genMask
}

// Claim reports whether the thief has claimed an item.
func (s *SlowThief[T]) Claim() bool { return s.d.top.CompareAndSwap(s.t, s.t+one) }

// Yield takes the item that Claim claimed and frees its slot.
func (s *SlowThief[T]) Yield() *T { return s.r.at(s.t).Yield() }

// Bottom returns the index of the owner's end. Owner only.
func (d *Deque[T]) Bottom() uint64 { return d.b }
