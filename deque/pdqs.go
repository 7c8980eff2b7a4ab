package deque

import (
	"math"

	"github.com/magpie-go/magpie/internal/pad"
	"github.com/magpie-go/magpie/internal/xatomic"
)

// defaultMean is the average number of operations between two alarms of an owner with items to spare. An alarm costs 25
// ns, so 16 adds less than 2 ns to an operation; with 4 a receiver would wait as long (BenchmarkPDQSPushPop,
// BenchmarkPDQSReceive).
const defaultMean = 16

// A pdqsGroup is a fixed number of deques whose owners deal items to each other: the sender-initiated private deques of
// Acar, Charguéraud and Rainey, "Scheduling Parallel Programs by Work Stealing with Private Deques" (PPoPP 2013). Make
// one with [newPDQSGroup].
type pdqsGroup[T any] struct {
	members []pdqs[T]
	present *xatomic.Int32 // number of members that are present, from the first: the others are dealt nothing
}

// newPDQSGroup returns n empty deques. An owner that has more than keep items deals one of them about every mean of its
// operations. A mean of 0 stands for the default.
func newPDQSGroup[T any](n, keep, mean int) *pdqsGroup[T] {
	if mean == 0 {
		mean = defaultMean
	}
	// The byte is for items of size zero, which may all have one address.
	unique := new(struct {
		waiting T
		_       byte
	})
	g := &pdqsGroup[T]{members: make([]pdqs[T], n), present: new(xatomic.Int32)}
	g.present.Store(int32(n))
	for i := range g.members {
		d := &g.members[i]
		d.keep, d.random, d.mean = keep, pdqsRandom(i+1)*golden, float64(mean)
		d.self, d.members, d.present, d.waiting = i, g.members, g.present, &unique.waiting
	}
	return g
}

// Queue returns the i-th deque. Any thread.
func (g *pdqsGroup[T]) Queue(i int) *pdqs[T] { return &g.members[i] }

// admit makes the members up to the i-th present: from here on owners deal to them. Any thread.
func (g *pdqsGroup[T]) admit(i int) {
	for n := g.present.Load(); n <= int32(i) && !g.present.CompareAndSwap(n, int32(i)+1); n = g.present.Load() {
	}
}

// A pdqs is a growable deque whose items only the owner touches. There are no steals. An owner without items waits a
// bounded time, see [pdqs.Receive]. An owner with enough items now and then deals its oldest item to another owner, if
// that owner waits at that moment. A pdqs is part of a [pdqsGroup] and must not be copied.
//
// An owner deals when its alarm rings, after a random number of operations with an exponential distribution: at each
// operation the alarm is as likely to ring as at any other. So owners that began together do not deal together.
//
// The deque keeps no pointer that was popped or dealt alive.
type pdqs[T any] struct {
	// Never written again. First: see pad.Line.
	self    int
	members []pdqs[T]
	present *xatomic.Int32 // the group's
	waiting *T             // no item has this address
	_       pad.Line

	// Owner only.
	own    private[T]
	keep   int
	alarm  int // operations before the one at which the alarm rings
	random pdqsRandom
	mean   float64 // of alarm
	_      pad.Line

	// cell is nil, waiting, or an item. The owner changes nil to waiting, and waiting and items to nil; dealers change
	// waiting to an item. P31: publishes the item, and everything written before it was pushed. C31: the step from
	// waiting decides which dealer deals, and whether the owner has waited in vain.
	cell xatomic.Pointer[T]
	_    pad.Line
}

// Push adds p, which must not be nil. It is Shown if the alarm rings, there is an item to spare, and the chosen
// receiver does not wait: it may be asleep. Everything before the Push happens before the return of the Pop or Receive
// that returns p.
//
// Owner only.
func (d *pdqs[T]) Push(p *T) Effect {
	d.own.push(p)
	return d.Poll()
}

// Pop removes the newest item, or returns nil if there is none. It is Shown as Push is.
//
// Owner only.
func (d *pdqs[T]) Pop() (*T, Effect) {
	p := d.own.pop()
	return p, d.Poll()
}

// Poll only counts as an operation for the alarm. It is Shown as Push is.
//
// Owner only.
func (d *pdqs[T]) Poll() Effect {
	if d.alarm > 0 {
		d.alarm--
		return Nothing
	}
	return d.ring()
}

// Wanted reports whether there is nothing to deal. Owner only.
func (d *pdqs[T]) Wanted() bool { return d.own.count() <= d.keep }

// Receive waits a bounded time for an item that another owner deals. The outcome is Stolen or NotReady.
//
// Owner only, of an empty deque.
func (d *pdqs[T]) Receive() (*T, Outcome) {
	d.cell.Store(d.waiting)
	for looks := 0; looks < patience && d.cell.Load() == d.waiting; looks++ {
	}
	return d.withdraw()
}

// withdraw ends the wait, and returns an item that has been dealt meanwhile.
func (d *pdqs[T]) withdraw() (*T, Outcome) {
	p := d.cell.Swap(nil) // C31
	if p == d.waiting {
		return nil, NotReady
	}
	return p, Stolen
}

// Steal finds nothing: only owners of the group's deques get items, by Receive. Any thread.
func (d *pdqs[T]) Steal() (*T, Outcome) { return nil, Empty }

// Ask reports that there is nothing to steal. Any thread.
func (d *pdqs[T]) Ask() bool { return false }

// Len is zero: nothing can be stolen. Any thread.
func (d *pdqs[T]) Len() int { return 0 }

// ring deals an item to another member, chosen at random, if that one waits. Without an item to spare the alarm goes
// on ringing.
func (d *pdqs[T]) ring() Effect {
	if d.own.count() <= d.keep {
		return Nothing
	}
	d.alarm = exponential(d.random.next(), d.mean)
	to := &d.members[d.another()]
	p := d.own.oldest()
	if to.cell.Load() == d.waiting && to.cell.CompareAndSwap(d.waiting, p) { // P31, C31
		d.own.shift()
		return Nothing
	}
	return Shown
}

// another returns the index of a random other member that is present, or its own if there is none.
func (d *pdqs[T]) another() int {
	n := int(d.present.Load())
	return (d.self + 1 + d.random.below(n-1)) % n
}

// pdqsRandom is the state of a generator of random numbers (xorshift64). It must not be zero.
type pdqsRandom uint64

// golden spreads seeds that differ by one: 2^64 divided by the golden ratio, odd.
const golden = 0x9E3779B97F4A7C15

func (r *pdqsRandom) next() uint64 {
	x := *r
	x ^= x << 13
	x ^= x >> 7
	x ^= x << 17
	*r = x
	return uint64(x)
}

// below returns a uniform index below n, or 0 if n is 0.
func (r *pdqsRandom) below(n int) int { return int(r.next() >> 32 * uint64(n) >> 32) }

// exponential turns a random number into a number of operations, with about the given mean, and at most 37 times that.
func exponential(random uint64, mean float64) int {
	const bits = 53
	u := float64(random>>(64-bits)+1) / (1 << bits) // never 0, whose logarithm is infinite
	return int(-math.Log(u) * mean)
}

var pdqsRow = row{
	name:   "pdqs",
	about:  "private: the owner deals to one that waits (sender-initiated)",
	traits: traits{hides: true, receives: true},
}

func pdqsQueues[T any](n int, o Options) func(int) Queue[T] {
	all := newPDQSGroup[T](n, o.Keep, 0)
	all.present.Store(0)
	return func(i int) Queue[T] {
		all.admit(i)
		d := all.Queue(i)
		d.own.items = make([]*T, 0, o.Capacity)
		return d
	}
}
