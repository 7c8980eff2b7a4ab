package deque

import (
	"github.com/magpie-go/magpie/internal/pad"
	"github.com/magpie-go/magpie/internal/xatomic"
)

// A padWS is a bounded work-stealing deque without a locked instruction in the owner's Push and Pop, as long as no
// thief steals: partial asynchronous delegation, after Wang, Liu, Fu, Härtig and Chen, "Work Stealing through Partial
// Asynchronous Delegation" (SPAA 2024). It must not be copied.
//
// It is a stack of blocks. The owner works in the newest block, whose items are its own until it grants some because a
// thief has asked. A thief takes an item that was granted before, asks for the next, and never waits: when no item is
// granted, its outcome is [NotReady]. In blocks below the newest thieves steal without asking.
//
// The price is that thieves do not see items that the owner has not granted, and that an owner answers only when it
// pushes, pops or polls. [Queue] has the rules that follow for a scheduler.
//
// The deque keeps no pointer that was popped or stolen alive.
type padWS[T any] struct {
	// Never written again. First: see pad.Line.
	blocks []padBlock[T] // block k is blocks[k mod length]
	size   uint          // items in a block
	window uint
	keep   uint
	_      pad.Line

	// Owner only, plain on purpose: the race detector checks the claim.
	epoch   uint64       // of here, with index zero
	here    *padBlock[T] // the newest block
	number  int64        // of here
	counts  padCounts
	Near[T] // of here; the items below low are granted

	newest xatomic.Int64 // number of the owner's block; written by the owner
	_      pad.Line

	oldest xatomic.Int64 // I47: all blocks below are exhausted; moved up by compare-and-swap
	_      pad.Line
}

// newPadWS returns an empty deque.
func newPadWS[T any](config padWSConfig) *padWS[T] {
	c := config.complete()
	d := &padWS[T]{
		blocks: newPadBlocks[T](c.Blocks, c.Entries),
		size:   uint(c.Entries), window: uint(c.Window), keep: uint(c.Keep),
	}
	d.settle(0, d.block(0), 0)
	return d
}

// Push adds p, which must not be nil. It is Refused if the deque is full, and then answers no request. It is Shown if
// it grants items, because thieves have asked or because the owner goes on to the next block. Everything before the
// Push happens before the return of the Pop or Steal that returns p.
//
// Owner only.
func (d *padWS[T]) Push(p *T) Effect {
	if d.next == uint(len(d.cells)) {
		return d.pushAbove(p)
	}
	d.Near.Push(p)
	return d.Poll()
}

// Pop removes the newest item that no thief has claimed, or returns nil if there is none. It takes back items that were
// granted and not claimed.
//
// Owner only.
func (d *padWS[T]) Pop() (*T, Effect) {
	if d.next == d.low && !d.retreat() {
		return nil, Nothing
	}
	p := d.Near.Pop()
	return p, d.Poll()
}

// Poll answers requests, as every Push and Pop does. The owner polls before it runs an item that takes long: until its
// next push, pop or poll thieves get only granted items.
//
// Owner only.
func (d *padWS[T]) Poll() Effect {
	if d.asked.Load() == 0 {
		return Nothing
	}
	return d.answer()
}

// Wanted reports whether a request is not answered, or there is nothing to steal. Owner only.
func (d *padWS[T]) Wanted() bool {
	if d.asked.Load() != 0 {
		return true
	}
	if padIndex(d.here.claim.Load()) < d.low {
		return false
	}
	for k := d.oldest.Load(); k < d.number; k++ {
		if padIndex(d.block(k).claim.Load()) != d.size {
			return false
		}
	}
	return true
}

var padWSRow = row{
	name:   "padws",
	about:  "bounded, in blocks, and in its own the owner grants what thieves have asked for",
	traits: traits{hides: true, asks: true, bounded: true, blocks: true, batches: true},
}

func padWSQueues[T any](_ int, o Options) func(int) Queue[T] {
	c := padWSConfig{Capacity: o.Capacity, Entries: o.BlockSize, Keep: o.Keep}
	return func(int) Queue[T] { return newPadWS[T](c) }
}
