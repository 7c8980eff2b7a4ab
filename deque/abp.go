package deque

import (
	"github.com/magpie-go/magpie/internal/pad"
	"github.com/magpie-go/magpie/internal/xatomic"
)

// An abp is a bounded work-stealing deque: one owner pushes and pops at the bottom, any thread steals at the top. It
// must not be copied.
//
// It is the deque of Arora, Blumofe and Plaxton (Thread scheduling for multiprogrammed multiprocessors, SPAA 1998,
// section 3): indices begin at the array's first slot and go back there when the owner finds the deque empty, and a tag
// beside the index of the top tells one such round from the next. What thieves leave behind below the top is lost until
// then, so a Push may be refused while most of the array is free. One thing is different: a thief claims an item before
// it reads the slot, see PROTOCOL.md.
//
// A push costs one locked instruction, a pop one, and three for the last item. The deque keeps no pointer that was
// popped or stolen alive.
type abp[T any] struct {
	slots []xatomic.Slot[T] // never changes; the last is the end of the array, and not free
	_     pad.Line

	// bottom is one past the newest item; written by the owner, read by thieves. P10: publishes the slots below.
	bottom xatomic.Uint64
	_      pad.Line

	// age is the tag and the index of the oldest item. C10: changed by the thread that claims it, or by the owner when there is
	// none.
	age xatomic.Uint64
	_   pad.Line
}

// An age is a tag in its upper 40 bits and the index of the oldest item, the top, in the lower 24.
//
// W10: tags come round after 2^40 rounds of the indices, three hours at 10 ns each; a thief would have to sleep through
// exactly that many.
const (
	topBits        = 24
	topMask        = 1<<topBits - 1
	oneTag  uint64 = 1 << topBits
)

// newABP returns an empty deque for capacity items: at least one, at most 1<<24 - 1.
func newABP[T any](capacity int) *abp[T] {
	n := min(max(capacity, 1), topMask)
	d := &abp[T]{slots: make([]xatomic.Slot[T], n+1)}
	d.slots[n].Put(new(T)) // never taken
	return d
}

// Push adds p, which must not be nil, at the bottom. It is Refused if the slot there is past the end of the array, or
// that of a thief that has claimed an item and not yet read it. Everything before the Push happens before the Pop or
// Steal that returns p.
//
// Owner only.
func (d *abp[T]) Push(p *T) Effect {
	b := d.bottom.Load()
	if !d.slots[b].Free() {
		return Refused // waiting for the thief would put the owner at the mercy of a preempted thread
	}
	d.slots[b].Put(p)
	d.bottom.Store(b + 1) // P10
	return Shown
}

// Pop removes the item pushed last, or returns nil if there is none.
//
// Owner only.
func (d *abp[T]) Pop() (*T, Effect) {
	b := d.bottom.Load()
	if b == 0 {
		return nil, Nothing
	}
	b--
	// D10(owner): announce the claim on slot b, then look at age. Pairs with D10(thief) in Steal, which looks at age
	// and then at bottom. Looking at age before announcing would let a thief come as far as b in between, and both keep
	// the item.
	d.bottom.Store(b)
	a := d.age.Load()
	top := a & topMask
	if b > top {
		return d.slots[b].Take(), Nothing
	}
	// The last item, if a thief has not got it. Either way the deque is empty and the indices go back to the beginning:
	// bottom first, for which every thief that comes now finds nothing, and then top together with the next tag.
	d.bottom.Store(0)
	next := a&^topMask + oneTag
	if b == top && d.age.CompareAndSwap(a, next) { // C10
		return d.slots[b].Take(), Nothing
	}
	d.age.Store(next) // no compare-and-swap: top is not below bottom, so no thief claims
	return nil, Nothing
}

// Poll does nothing: each Push tells. Owner only.
func (d *abp[T]) Poll() Effect { return Nothing }

// Wanted reports whether there is nothing to steal. Owner only.
func (d *abp[T]) Wanted() bool { return d.Len() == 0 }

// Steal removes the item pushed first. Lost means that it may pay to try again; it says nothing about what is left.
//
// Any thread, the owner's included.
func (d *abp[T]) Steal() (*T, Outcome) {
	// D10(thief): age, then bottom. The other way round, the owner could pop everything and push anew between the two
	// loads, and the old bottom would vouch for slots it never published.
	a := d.age.Load()
	top := a & topMask
	if d.bottom.Load() <= top {
		return nil, Empty
	}
	// C10: the item is claimed before its slot is read. Without a new tag in each round, this could claim slot top of a
	// later round, in which nothing has been pushed there.
	if !d.age.CompareAndSwap(a, a+1) {
		return nil, Lost
	}
	return d.slots[top].Yield(), Stolen
}

// Len is about the number of items: exact while nothing is pushed, popped or stolen meanwhile. Any thread.
func (d *abp[T]) Len() int {
	top := d.age.Load() & topMask
	return max(0, int(d.bottom.Load())-int(top))
}

// Ask reports whether there was something to steal at some moment during the call. Any thread.
func (d *abp[T]) Ask() bool { return d.Len() != 0 }

func abpRow[T any]() row[T] {
	return row[T]{
		name:   "abp",
		about:  "Arora, Blumofe and Plaxton's, bounded: a locked instruction for a push, and one for a pop",
		traits: traits{bounded: true},
		most:   topMask,
		group: func(_ int, o Options) func(int) Queue[T] {
			return func(int) Queue[T] { return newABP[T](o.Capacity) }
		},
	}
}
