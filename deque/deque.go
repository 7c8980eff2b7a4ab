package deque

import (
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
	NotReady                // the owner has to answer first, then there may be more; only of kinds whose thieves ask
)

func (o Outcome) String() string { return [...]string{"empty", "stolen", "lost", "not ready"}[o] }

// A Deque is a growable work-stealing deque: one owner pushes and pops at the bottom, any thread steals at the top.
// Make one with [New]; a Deque must not be copied.
//
// It is the deque of Chase and Lev (2005) with the slots of Go's sync.Pool queue and a generation in top, see
// PROTOCOL.md. A push and a pop cost one locked instruction each. The deque keeps no pointer that was popped or stolen
// alive, and its ring never shrinks.
type Deque[T any] struct {
	_ pad.Line // see there

	// Owner only, plain on purpose: the race detector checks the claim.
	b    uint64   // what bottom holds between two operations
	ring *ring[T] // what shared holds
	_    pad.Line

	bottom xatomic.Uint64           // written by the owner, read by thieves; P1: publishes the slots below it
	shared xatomic.Pointer[ring[T]] // written by the owner when it grows, read by thieves
	_      pad.Line

	top xatomic.Uint64 // index and generation; C1: moved by compare-and-swap, which decides who has an item
	_   pad.Line
}

// Indices are counted in units of one, in the upper 56 bits of a word; they wrap with it. The lower 8 bits of top hold
// the generation of the ring that its index may be claimed from; those of bottom are zero.
//
// W1: an index comes round after 2^56 pushes, 20 years at 10 ns each; a thief would have to sleep through exactly that
// many. Generations do not come round: each doubles the ring, and 2^48 slots do not fit a machine.
const (
	genBits        = 8
	genMask        = 1<<genBits - 1
	one     uint64 = 1 << genBits
)

// distance is how many units index b is past the index in word t. It is right across a wrap as long as the two are
// less than 2^55 apart.
func distance(b, t uint64) int64 { return int64(b - t&^genMask) }

type ring[T any] struct {
	gen   uint64
	mask  uint64
	slots []xatomic.Slot[T]
}

func newRing[T any](size int, gen uint64) *ring[T] {
	return &ring[T]{gen: gen, mask: uint64(size - 1), slots: make([]xatomic.Slot[T], size)}
}

// at is the slot of the index in word w.
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

// Push adds p at the bottom. p must not be nil: a nil item comes out as nil, as if there were none, though the others
// keep their places. Everything before the Push happens before the Pop or Steal that returns p.
//
// Owner only.
func (d *Deque[T]) Push(p *T) {
	b := d.b
	s := d.ring.at(b)
	if !s.Free() {
		// The ring is full, or a thief has claimed the item of one lap ago and not yet read it. In both cases a larger
		// ring is the answer: waiting for the thief would put the owner at the mercy of a preempted thread.
		d.grow()
		s = d.ring.at(b)
	}
	s.Put(p)
	d.bottom.Store(b + one) // P1
	d.b = b + one           // after the locked instruction, which would wait for this store as well
}

// Pop removes the item pushed last, or returns nil if there is none.
//
// Owner only.
func (d *Deque[T]) Pop() *T {
	// Top never moves back and only the owner moves bottom up, so what this comparison says of an empty deque is final.
	t := d.top.Load()
	n := distance(d.b, t)
	if n <= 0 {
		return nil
	}
	b := d.b - one
	if n == int64(one) {
		// The last item is claimed at the top, as a thief does it. Bottom stays: one locked instruction instead of
		// three.
		if !d.top.CompareAndSwap(t, t+one) { // C1
			return nil
		}
		return d.ring.at(b).Take()
	}
	// D1(owner): announce the claim on slot b, then look at top. Pairs with D1(thief) in Steal, which looks at top and
	// then at bottom. One of the two comes first in the single order of atomics, so a thief that still means to claim b
	// has loaded a top from before this store, and C1 decides. Looking at top before announcing would let both keep
	// the item.
	d.bottom.Store(b)
	t = d.top.Load()
	n = distance(b, t)
	if n > 0 {
		d.b = b
		return d.ring.at(b).Take()
	}
	// Thieves came as far as slot b meanwhile. Bottom goes back up whoever has b.
	won := n == 0 && d.top.CompareAndSwap(t, t+one) // C1
	d.bottom.Store(d.b)
	if !won {
		return nil
	}
	return d.ring.at(b).Take()
}

// Steal removes the item pushed first. Lost means that it may pay to try again; it says nothing about what is left.
//
// Any thread, the owner's included.
func (d *Deque[T]) Steal() (*T, Outcome) {
	// D1(thief): top, then bottom. The other way round, the owner could pop everything and push anew between the two
	// loads, and the old bottom would vouch for slots it never published.
	t := d.top.Load()
	if distance(d.bottom.Load(), t) <= 0 {
		return nil, Empty
	}
	r := d.shared.Load()
	if r.gen != t&genMask {
		return nil, Lost // the owner is between bumping the generation and publishing its ring
	}
	// C1: the item is claimed before its slot is read. The claim is good for ring r only: if the owner had begun to
	// copy r, top would carry another generation (G1).
	if !d.top.CompareAndSwap(t, t+one) {
		return nil, Lost
	}
	return r.at(t).Yield(), Stolen
}

// Len is about the number of items: exact while nothing is pushed, popped or stolen meanwhile. Any thread.
func (d *Deque[T]) Len() int {
	t := d.top.Load()
	return max(0, int(distance(d.bottom.Load(), t)>>genBits))
}

// IsEmpty reports whether there was nothing to steal at some moment during the call. Any thread.
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
	// G1: from here on no thief can claim from the old ring. Those that have are past the index this returns, and read
	// slots that are not copied. Copying first would leave the item of a slower thief in both rings: stolen from the
	// one, popped from the other.
	t := d.top.Add(1)
	for i := t &^ genMask; i != d.b; i += one {
		r.at(i).Put(old.at(i).Peek())
	}
	d.ring = r
	// R1: the old ring still points at the items, and goes as soon as the last thief drops it.
	d.shared.Store(r)
}
