//go:build modelcheck

package deque

import (
	"math"
	"testing"

	"github.com/magpie-go/magpie/internal/model"
)

// TestModelBWoSOwnerThief: every pushed item comes out exactly once, by a pop or a steal.
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

// TestModelBWoSTakeover: the owner takes a block back while thieves steal from it, and grants it again. The thieves
// keep the items that they have claimed.
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

// TestModelBWoSLastItem: the owner and thieves go for the last item of a granted block. The deque works on, whichever
// of them gets it.
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

// TestModelBWoSReuse: the owner comes round to a block that thieves have exhausted, and one of them has not yet read
// its item; or to a block that is not exhausted, and then the deque is full.
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

// TestModelBWoSRounds: a thief that has loaded a block's word sleeps until the block has come round and has items again
// that are not the oldest. If it claimed one, the owner could find the block exhausted and conclude that all before it
// are.
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

// TestModelBWoSEmptyIsTrue: no thief finds a deque empty from which two items can be stolen all the time, even if it
// sleeps until the block that it saw as the oldest is the owner's.
func TestModelBWoSEmptyIsTrue(t *testing.T) {
	model.Check(t, func() {
		d := newBWoS[int](4, 1)
		all := items(5)
		own := make(ledger, 5)
		push(d, own, all[:3]...)
		neverEmpty(d, 5, own, func() { push(d, own, all[3:]...) })
	})
}

// TestModelBWoSWrap: block numbers and rounds wrap meanwhile.
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
