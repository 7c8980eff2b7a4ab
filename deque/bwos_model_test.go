//go:build modelcheck

package deque

import (
	"math"
	"testing"

	"github.com/magpie-go/magpie/internal/model"
)

// TestModelBWoSOwnerThief: what the owner pushes comes out exactly once, by its pops or a thief's steals.
func TestModelBWoSOwnerThief(t *testing.T) {
	model.Check(t, func() {
		d := newBWoS[int](4, 1)
		all := items(4)
		own, stolen := make(ledger, 4), make(ledger, 4)
		join := thief(d, 2, stolen)
		push(d, own, all[:3]...)
		own.pop(d)
		own.pop(d)
		push(d, own, all[3])
		own.pop(d)
		join()
		settle(d, 4, own, stolen)
	})
}

// TestModelBWoSTwoThieves: the same with two thieves.
func TestModelBWoSTwoThieves(t *testing.T) {
	model.Check(t, func() {
		d := newBWoS[int](4, 1)
		all := items(4)
		own, stolen1, stolen2 := make(ledger, 4), make(ledger, 4), make(ledger, 4)
		push(d, own, all[:3]...)
		join1 := thief(d, 1, stolen1)
		join2 := thief(d, 2, stolen2)
		own.pop(d)
		own.pop(d)
		push(d, own, all[3])
		own.pop(d)
		join1()
		join2()
		settle(d, 4, own, stolen1, stolen2)
	})
}

// TestModelBWoSTakeover: the owner takes a block back while thieves are at it, who keep what they have claimed, and
// grants it again.
func TestModelBWoSTakeover(t *testing.T) {
	model.Check(t, func() {
		d := newBWoS[int](4, 2)
		all := items(5)
		own, stolen1, stolen2 := make(ledger, 5), make(ledger, 5), make(ledger, 5)
		push(d, own, all[:3]...)
		join1 := thief(d, 1, stolen1)
		join2 := thief(d, 1, stolen2)
		own.pop(d)
		own.pop(d)
		push(d, own, all[3], all[4])
		own.pop(d)
		join1()
		join2()
		settle(d, 5, own, stolen1, stolen2)
	})
}

// TestModelBWoSLastItem: the last item of a granted block, for which owner and thieves fall on it; and the deque goes
// on to work whoever gets it.
func TestModelBWoSLastItem(t *testing.T) {
	model.Check(t, func() {
		d := newBWoS[int](2, 1)
		all := items(4)
		own, stolen1, stolen2 := make(ledger, 4), make(ledger, 4), make(ledger, 4)
		push(d, own, all[0], all[1])
		join1 := thief(d, 1, stolen1)
		join2 := thief(d, 1, stolen2)
		own.pop(d)
		own.pop(d)
		join1()
		join2()
		model.Assert(own[0]+stolen1[0]+stolen2[0] == 1, "nobody got the item, and no one was faster")
		push(d, own, all[2], all[3])
		p, outcome := d.Steal()
		model.Assert(outcome == Stolen && p == all[2], "what is granted cannot be stolen: %v", outcome)
		own.note(p)
		settle(d, 4, own, stolen1, stolen2)
	})
}

// TestModelBWoSReuse: the owner comes round to a block that thieves have exhausted, one of them without having read
// what it claimed; or that they have not, and then the deque is full.
func TestModelBWoSReuse(t *testing.T) {
	model.Check(t, func() {
		d := newBWoS[int](2, 1)
		all := items(5)
		own, stolen1, stolen2 := make(ledger, 5), make(ledger, 5), make(ledger, 5)
		push(d, own, all[0], all[1])
		join1 := thief(d, 1, stolen1)
		join2 := thief(d, 2, stolen2)
		push(d, own, all[2:]...)
		own.pop(d)
		join1()
		join2()
		settle(d, 5, own, stolen1, stolen2)
	})
}

// TestModelBWoSRounds: a thief sleeps, with the word of a block in its hand, until the block has come round and has
// items again which are not the oldest. Should it claim one, the owner would find an empty block, and think that all
// before it are.
func TestModelBWoSRounds(t *testing.T) {
	model.Check(t, func() {
		d := newBWoS[int](4, 1)
		all := items(6)
		own, stolen1, stolen2 := make(ledger, 6), make(ledger, 6), make(ledger, 6)
		push(d, own, all[:3]...)
		join1 := thief(d, 1, stolen1)
		join2 := thief(d, 2, stolen2)
		push(d, own, all[3:]...)
		join1()
		join2()
		settle(d, 6, own, stolen1, stolen2)
	})
}

// TestModelBWoSEmptyIsTrue: no thief says that a deque is empty in which two items can be stolen all the time, though
// one sleeps until the block that it knew as the oldest is the owner's.
func TestModelBWoSEmptyIsTrue(t *testing.T) {
	model.Check(t, func() {
		d := newBWoS[int](4, 1)
		all := items(5)
		own := make(ledger, 5)
		push(d, own, all[:3]...)
		neverEmpty(d, 5, own, func() { push(d, own, all[3:]...) })
	})
}

// TestModelBWoSWrap: block numbers and rounds pass the end of their words meanwhile.
func TestModelBWoSWrap(t *testing.T) {
	model.Check(t, func() {
		d := NewBWoSAt[int](2, 1, math.MaxUint64)
		all := items(5)
		own, stolen := make(ledger, 5), make(ledger, 5)
		push(d, own, all[0], all[1])
		join := thief(d, 2, stolen)
		push(d, own, all[2:]...)
		own.pop(d)
		join()
		settle(d, 5, own, stolen)
	})
}
