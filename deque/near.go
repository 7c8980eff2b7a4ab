package deque

import (
	"github.com/magpie-go/magpie/internal/pad"
	"github.com/magpie-go/magpie/internal/xatomic"
)

// A Near is the near end of a deque in blocks: the block that only the owner uses. [NearOf] returns it. It is a short
// way for Push and Pop of the [Queue], as long as the owner stays in the block and thieves have asked for nothing: the
// methods are inlined, and have no locked instruction. The queue's own Push and Pop go this way, too.
//
// Owner only, except for asked.
type Near[T any] struct {
	// Plain on purpose: the race detector checks the claim.
	cells []xatomic.Plain[*T]
	next  uint // one past the newest item
	low   uint // I41: cells low … next-1 are the owner's
	_     pad.Line

	asked xatomic.Uint32 // requests not yet answered; added by thieves, subtracted by the owner
	_     pad.Line
}

// MayPush reports whether Push may be called: the block has room, and thieves have asked for nothing.
func (n *Near[T]) MayPush() bool { return n.asked.Load() == 0 && n.next < uint(len(n.cells)) }

// Push adds p. The effect is Nothing.
func (n *Near[T]) Push(p *T) {
	next := n.next
	n.cells[next].Set(p)
	n.next = next + 1
}

// MayPop reports whether Pop may be called: the block has an item of the owner's, and thieves have asked for nothing.
func (n *Near[T]) MayPop() bool { return n.asked.Load() == 0 && n.next != n.low }

// Pop removes the newest item. The effect is Nothing.
func (n *Near[T]) Pop() *T {
	n.next--
	return take(&n.cells[n.next]) // R2
}

// NearOf returns the near end of a queue or, if its kind has none, one that never takes nor has an item.
func NearOf[T any](q Queue[T]) *Near[T] {
	switch q := q.(type) {
	case *padWS[T]:
		return &q.Near
	case *bwos[T]:
		return &q.Near
	}
	return &Near[T]{}
}
