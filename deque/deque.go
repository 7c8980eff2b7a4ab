package deque

import (
	"fmt"
	"math/bits"

	"github.com/magpie-go/magpie/internal/pad"
	"github.com/magpie-go/magpie/internal/xatomic"
)

// An Outcome says how a steal ended.
type Outcome uint8

const (
	Empty    Outcome = iota // there was nothing to steal
	Stolen                  // the thief has an item
	Lost                    // another thread was faster, or the deque was growing: there may be more
	NotReady                // the owner has to answer first: there may be more; only of kinds that ask or receive
)

func (o Outcome) String() string {
	if o > NotReady {
		return fmt.Sprintf("Outcome(%d)", uint8(o))
	}
	return [...]string{"empty", "stolen", "lost", "not ready"}[o]
}

// A Deque is a growable work-stealing deque: one owner pushes and pops at the bottom, any thread steals at the top.
// Make one with [New]; a Deque must not be copied.
//
// It is the deque of Chase and Lev, "Dynamic Circular Work-Stealing Deque" (SPAA 2005), with the slots of Go's
// sync.Pool queue and a generation in top, see PROTOCOL.md. A push and a pop cost one locked instruction each. The
// deque keeps no pointer that was popped or stolen alive, and its ring never shrinks.
type Deque[T any] struct {
	_ pad.Line // see pad.Line

	// Owner only, plain on purpose: the race detector checks the claim.
	b    uint64   // the value of bottom between two operations
	ring *ring[T] // the value of shared
	_    pad.Line

	bottom xatomic.Uint64           // written by the owner, read by thieves; P1: publishes the slots below it
	shared xatomic.Pointer[ring[T]] // written by the owner when it grows, read by thieves
	_      pad.Line

	top xatomic.Uint64 // index and generation; C1: a claim moves it by compare-and-swap
	_   pad.Line
}

// Indices are counted in units of one, in the upper 56 bits of a word; they wrap with it. The lower 8 bits of top hold
// the generation of the ring that its index may be claimed from; those of bottom are zero.
//
// W1: an index wraps after 2^56 pushes, 20 years at 10 ns each; a thief errs only if it sleeps through exactly that
// many. Generations do not wrap: each doubles the ring, and 2^48 slots do not fit a machine.
const (
	genBits        = 8
	genMask        = 1<<genBits - 1
	one     uint64 = 1 << genBits
)

// distance returns how many units index b is past the index in word t. It is right across a wrap as long as the two
// are less than 2^55 apart.
func distance(b, t uint64) int64 { return int64(b - t&^genMask) }

type ring[T any] struct {
	gen   uint64
	mask  uint64
	slots []xatomic.Slot[T]
}

func newRing[T any](size int, gen uint64) *ring[T] {
	return &ring[T]{gen: gen, mask: uint64(size - 1), slots: make([]xatomic.Slot[T], size)}
}

// at returns the slot of the index in word w.
func (r *ring[T]) at(w uint64) *xatomic.Slot[T] { return &r.slots[w>>genBits&r.mask] }

// New returns an empty deque whose ring has room for at least capacity items before it grows for the first time.
func New[T any](capacity int) *Deque[T] {
	d := &Deque[T]{}
	d.init(capacity)
	return d
}

func (d *Deque[T]) init(capacity int) {
	size := 1 << bits.Len(uint(max(capacity, minCapacity)-1))
	d.ring = newRing[T](size, 0)
	d.shared.Store(d.ring)
}

// Push adds p at the bottom. p must not be nil: Pop and Steal would return nil for it, as if there were no item.
// Everything before the Push happens before the return of the Pop or Steal that returns p.
//
// Owner only.
func (d *Deque[T]) Push(p *T) {
	b := d.b
	s := d.ring.at(b)
	if !s.Free() {
		// The ring is full, or a thief has claimed the item of one lap ago and not yet read it. In both cases the
		// ring grows: an owner that waited for the thief would be at the mercy of a preempted thread.
		d.grow()
		s = d.ring.at(b)
	}
	s.Put(p)
	d.bottom.Store(b + one) // P1
	d.b = b + one           // after the locked instruction, which would otherwise wait for this store too
}

// Pop removes the item pushed last, or returns nil if there is none.
//
// Owner only.
func (d *Deque[T]) Pop() *T {
	// Top never moves back and only the owner moves bottom up, so an empty deque stays empty during the call.
	t := d.top.Load()
	n := distance(d.b, t)
	if n <= 0 {
		return nil
	}
	b := d.b - one
	if n == int64(one) {
		// The owner claims the last item at the top, as a thief does. Bottom stays: one locked instruction instead
		// of three.
		if !d.top.CompareAndSwap(t, t+one) { // C1
			return nil
		}
		return d.ring.at(b).Take()
	}
	// D1(owner): store bottom to announce the claim on slot b, then load top. Pairs with D1(thief) in Steal, which
	// loads top and then bottom. One of the two comes first in the single order of atomics. So a thief that can still
	// claim b has loaded top before this store, and C1 decides. With the load first, both could keep the item.
	d.bottom.Store(b)
	t = d.top.Load()
	n = distance(b, t)
	if n > 0 {
		d.b = b
		return d.ring.at(b).Take()
	}
	// Meanwhile thieves have come as far as slot b. Bottom goes back up, whether the owner or a thief has b.
	won := n == 0 && d.top.CompareAndSwap(t, t+one) // C1
	d.bottom.Store(d.b)
	if !won {
		return nil
	}
	return d.ring.at(b).Take()
}

// Steal removes the item pushed first. The outcome is Stolen, Empty or Lost. Lost says nothing about the items that are
// left: it may pay to try again.
//
// Any thread, the owner's included.
func (d *Deque[T]) Steal() (*T, Outcome) {
	// D1(thief): load top, then bottom. In the other order, the owner could pop everything and push anew between the
	// two loads, and below the old bottom could lie items that the store of it has not published.
	t := d.top.Load()
	if distance(d.bottom.Load(), t) <= 0 {
		return nil, Empty
	}
	r := d.shared.Load()
	if r.gen != t&genMask {
		return nil, Lost // the owner is between bumping the generation and publishing its ring
	}
	// C1: the thief claims the item before it reads the slot. The claim is good for ring r only: had the owner begun
	// to copy r, top would carry another generation (G1).
	if !d.top.CompareAndSwap(t, t+one) {
		return nil, Lost
	}
	return r.at(t).Yield(), Stolen
}

// Len returns the number of items. It is exact if no item is pushed, popped or stolen meanwhile, otherwise approximate.
// Any thread.
func (d *Deque[T]) Len() int {
	t := d.top.Load()
	return max(0, int(distance(d.bottom.Load(), t)>>genBits))
}

// HasFewer reports whether Len is less than n, which is at least 1. Any thread.
func (d *Deque[T]) HasFewer(n int) bool {
	t := d.top.Load()
	return distance(d.bottom.Load(), t) < int64(n)<<genBits
}

// IsEmpty reports whether there was no item to steal at some moment during the call. Any thread.
func (d *Deque[T]) IsEmpty() bool {
	t := d.top.Load()
	return distance(d.bottom.Load(), t) <= 0
}

// grow doubles the ring.
//
// Owner only.
func (d *Deque[T]) grow() {
	old := d.ring
	r := newRing[T](2*len(old.slots), old.gen+1) // before the bump: thieves lose until the ring is published
	// G1: from here on no thief can claim from the old ring. Thieves that have claimed before read slots below index
	// t, which are not copied. With the copy first, the item of a slow thief could be in both rings: stolen from one
	// and popped from the other.
	t := d.top.Add(1)
	for i := t &^ genMask; i != d.b; i += one {
		r.at(i).Put(old.at(i).Peek())
	}
	d.ring = r
	// R1: the old ring still points at the items, and is garbage as soon as the last thief drops it.
	d.shared.Store(r)
}
