package deque

import (
	"github.com/magpie-go/magpie/internal/pad"
	"github.com/magpie-go/magpie/internal/xatomic"
)

// An abp is a bounded work-stealing deque: one owner pushes and pops at the bottom, any thread steals at the top. It
// must not be copied.
//
// It is the deque of Arora, Blumofe and Plaxton (Thread scheduling for multiprogrammed multiprocessors, SPAA 1998,
// section 3). Indices begin at the array's first slot. When the owner finds the deque empty, they go back there, and a
// new round begins. A tag beside the index of the top tells the rounds apart. The slots below the top are not used
// until the next round, so a Push may be refused while most of the array is free. One thing is different from the
// paper: a thief claims an item before it reads the slot, see protocol/abp.md.
//
// A push costs one locked instruction, a pop one, and three for the last item. The deque keeps no pointer that was
// popped or stolen alive.
type abp[T any] struct {
	slots []xatomic.Slot[T] // never changes; the last marks the end of the array, and is never free
	_     pad.Line

	// bottom is one past the newest item; written by the owner, read by thieves. P10: publishes the slots below.
	bottom xatomic.Uint64
	_      pad.Line

	// age is the tag and the index of the oldest item. C10: changed by the thread that claims the item, or by the owner
	// if there is none.
	age xatomic.Uint64
	_   pad.Line
}

// An age is a tag in its upper 40 bits and the index of the oldest item, the top, in the lower 24.
//
// W10: tags wrap after 2^40 rounds of the indices, three hours at 10 ns each; a thief errs only if it sleeps through
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

// Push adds p, which must not be nil, at the bottom. It is Refused if bottom is at the end of the array, or if a thief
// has claimed an item in the slot there and not yet read it. Everything before the Push happens before the return of
// the Pop or Steal that returns p.
//
// Owner only.
func (d *abp[T]) Push(p *T) Effect {
	b := d.bottom.Load()
	if !d.slots[b].Free() {
		return Refused // an owner that waited for the thief would be at the mercy of a preempted thread
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
	// D10(owner): store bottom to announce the claim on slot b, then load age. Pairs with D10(thief) in Steal, which
	// loads age and then bottom. With the load first, a thief could come as far as b in between, and both would have
	// the item.
	d.bottom.Store(b)
	a := d.age.Load()
	top := a & topMask
	if b > top {
		return d.slots[b].Take(), Nothing
	}
	// This is the last item, unless a thief has it. Either way the deque is empty and the indices go back to the
	// beginning: first bottom, so that a thief that begins now finds nothing, then top together with the next tag.
	d.bottom.Store(0)
	next := a&^topMask + oneTag
	if b == top && d.age.CompareAndSwap(a, next) { // C10
		return d.slots[b].Take(), Nothing
	}
	d.age.Store(next) // no compare-and-swap: top is not below bottom, so no thief claims
	return nil, Nothing
}

// Poll does nothing: there are no requests. Owner only.
func (d *abp[T]) Poll() Effect { return Nothing }

// Wanted reports whether there is nothing to steal. Owner only.
func (d *abp[T]) Wanted() bool { return d.Len() == 0 }

// Steal removes the item pushed first. The outcome is Stolen, Empty or Lost. Lost says nothing about the items that are
// left: it may pay to try again.
//
// Any thread, the owner's included.
func (d *abp[T]) Steal() (*T, Outcome) {
	// D10(thief): load age, then bottom. In the other order, the owner could pop everything and push anew between the
	// two loads, and below the old bottom could lie items that the store of it has not published.
	a := d.age.Load()
	top := a & topMask
	if d.bottom.Load() <= top {
		return nil, Empty
	}
	// C10: the thief claims the item before it reads the slot. Without a new tag in each round it could claim slot top
	// of a later round, in which no item has been pushed there.
	if !d.age.CompareAndSwap(a, a+1) {
		return nil, Lost
	}
	return d.slots[top].Yield(), Stolen
}

// Len returns the number of items. It is exact if no item is pushed, popped or stolen meanwhile, otherwise approximate.
// Any thread.
func (d *abp[T]) Len() int {
	top := d.age.Load() & topMask
	return max(0, int(d.bottom.Load())-int(top))
}

// Ask reports whether there was an item to steal at some moment during the call. Any thread.
func (d *abp[T]) Ask() bool { return d.Len() != 0 }

var abpRow = row{
	name:   "abp",
	about:  "Arora, Blumofe and Plaxton's, bounded: a locked instruction for a push, and one for a pop",
	traits: traits{bounded: true},
	most:   topMask,
}

func abpQueues[T any](_ int, o Options) func(int) Queue[T] {
	return func(int) Queue[T] { return newABP[T](o.Capacity) }
}
