package deque

import (
	"math"

	"github.com/magpie-go/magpie/internal/pad"
	"github.com/magpie-go/magpie/internal/xatomic"
)

// defaultMean is how many operations of an owner with items to spare go by between two alarms, on average. An alarm
// costs 25 ns, so 16 adds less than 2 ns to an operation; with 4 a receiver would wait no shorter
// (BenchmarkPDQSPushPop, BenchmarkPDQSReceive).
const defaultMean = 16

// A pdqsGroup is a fixed number of deques whose owners deal items to each other: the sender-initiated private deques of
// Acar, Charguéraud and Rainey (2013). Make one with [newPDQSGroup].
type pdqsGroup[T any] struct {
	members []pdqs[T]
	present *xatomic.Int32 // how many members there are, from the first: others are dealt nothing
}

// newPDQSGroup returns n empty deques. An owner that has more than keep items deals one of them about every mean of its
// operations; 0 chooses a mean.
func newPDQSGroup[T any](n, keep, mean int) *pdqsGroup[T] {
	if mean == 0 {
		mean = defaultMean
	}
	// The byte is for items of no size, which may all have one address.
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

// Queue is the i-th deque. Any thread.
func (g *pdqsGroup[T]) Queue(i int) *pdqs[T] { return &g.members[i] }

// admit has the members up to the i-th be dealt to. Any thread.
func (g *pdqsGroup[T]) admit(i int) {
	for n := g.present.Load(); n <= int32(i) && !g.present.CompareAndSwap(n, int32(i)+1); n = g.present.Load() {
	}
}

// A pdqs is a growable deque whose owner alone ever touches it. Nobody steals: an owner that has nothing waits for some
// time (see [pdqs.Receive]), and one that has enough now and then gives its oldest item to another, if that one waits
// just then. It is part of a [pdqsGroup] and must not be copied.
//
// Alarms say when. They ring after so many operations, at random, with an exponential distribution, that is as if at
// each operation with the same probability: owners that began together do not deal together.
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
	alarm  int // operations before the one at which it rings
	random pdqsRandom
	mean   float64 // of alarm
	_      pad.Line

	// cell is nil, waiting, or an item. Its owner changes nil to waiting and the others to nil, dealers change waiting
	// to an item. P31: publishes the item, and what was written before it was pushed. C31: the step from waiting
	// decides who deals, and whether the owner has waited in vain.
	cell xatomic.Pointer[T]
	_    pad.Line
}

// Push adds p, which must not be nil. It is Shown if an alarm rings, there is an item to spare, and the owner that was
// to get it does not wait: that one may be asleep. Everything before the Push happens before the Pop or Receive that
// returns p.
//
// Owner only.
func (d *pdqs[T]) Push(p *T) Effect {
	d.own.push(p)
	return d.Poll()
}

// Pop removes the item pushed last of those that were not dealt, or returns nil if there is none.
//
// Owner only.
func (d *pdqs[T]) Pop() (*T, Effect) {
	p := d.own.pop()
	return p, d.Poll()
}

// Poll is an operation, as far as alarms are concerned, and says of them what Push does.
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

// Receive waits some time for an item that another owner deals. It is Stolen or NotReady.
//
// Owner only, of an empty deque.
func (d *pdqs[T]) Receive() (*T, Outcome) {
	d.cell.Store(d.waiting)
	for looks := 0; looks < patience && d.cell.Load() == d.waiting; looks++ {
	}
	return d.withdraw()
}

// withdraw ends the wait. An item may have come until then.
func (d *pdqs[T]) withdraw() (*T, Outcome) {
	p := d.cell.Swap(nil) // C31
	if p == d.waiting {
		return nil, NotReady
	}
	return p, Stolen
}

// Steal finds nothing: a thief has to be the owner of another deque of the group, and to wait. Any thread.
func (d *pdqs[T]) Steal() (*T, Outcome) { return nil, Empty }

// Ask reports that there is nothing to steal. Any thread.
func (d *pdqs[T]) Ask() bool { return false }

// Len is zero: nothing can be stolen. Any thread.
func (d *pdqs[T]) Len() int { return 0 }

// ring deals an item to another member, chosen at random, if it waits. Without an item to spare the alarm goes on
// ringing.
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

// another is the index of another member that is present, if there is one.
func (d *pdqs[T]) another() int {
	n := int(d.present.Load())
	return (d.self + 1 + d.random.below(n-1)) % n
}

// pdqsRandom is the state of a generator of random numbers (xorshift64). It is not zero.
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

// below is a uniform index below n.
func (r *pdqsRandom) below(n int) int { return int(r.next() >> 32 * uint64(n) >> 32) }

// exponential makes a random number into one of operations, with the given mean, about, and at most 37 times that.
func exponential(random uint64, mean float64) int {
	const bits = 53
	u := float64(random>>(64-bits)+1) / (1 << bits) // never 0, whose logarithm is infinite
	return int(-math.Log(u) * mean)
}

func pdqsRow[T any]() row[T] {
	return row[T]{
		name:   "pdqs",
		about:  "private: the owner deals to one that waits (sender-initiated)",
		traits: traits{hides: true, receives: true},
		group: func(n int, o Options) func(int) Queue[T] {
			all := newPDQSGroup[T](n, o.Keep, 0)
			all.present.Store(0)
			return func(i int) Queue[T] {
				all.admit(i)
				d := all.Queue(i)
				d.own.items = make([]*T, 0, o.Capacity)
				return d
			}
		},
	}
}
