//go:build modelcheck

package deque

import (
	"testing"

	"github.com/magpie-go/magpie/internal/model"
)

// push pushes all items, and returns Shown if a push did. An item that is refused comes out at once: its owner has it.
func push(d Queue[int], own ledger, all ...*int) (effect Effect) {
	for _, p := range all {
		switch d.Push(p) {
		case Refused:
			own.note(p)
		case Shown:
			effect = Shown
		}
	}
	return effect
}

// TestModelABPOwnerThief: every pushed item comes out exactly once, by a pop or a steal.
func TestModelABPOwnerThief(t *testing.T) {
	model.Check(t, func() {
		d := newABP[int](3)
		all := items(3)
		own, stolen := make(ledger, 3), make(ledger, 3)
		join := thief(d, 2, stolen)
		push(d, own, all[0], all[1])
		own.pop(d)
		push(d, own, all[2])
		own.pop(d)
		join()
		settle(d, 3, own, stolen)
	})
}

// TestModelABPTwoThieves: the same with two thieves.
func TestModelABPTwoThieves(t *testing.T) {
	model.Check(t, func() {
		d := newABP[int](3)
		all := items(3)
		own, stolen1, stolen2 := make(ledger, 3), make(ledger, 3), make(ledger, 3)
		push(d, own, all[0], all[1])
		join1 := thief(d, 1, stolen1)
		join2 := thief(d, 2, stolen2)
		own.pop(d)
		push(d, own, all[2])
		own.pop(d)
		join1()
		join2()
		settle(d, 3, own, stolen1, stolen2)
	})
}

// TestModelABPLastItem: the owner and two thieves go for one item; one of them gets it.
func TestModelABPLastItem(t *testing.T) {
	model.Check(t, func() {
		d := newABP[int](1)
		all := items(1)
		own, stolen1, stolen2 := make(ledger, 1), make(ledger, 1), make(ledger, 1)
		push(d, own, all[0])
		join1 := thief(d, 1, stolen1)
		join2 := thief(d, 1, stolen2)
		own.pop(d)
		join1()
		join2()
		model.Assert(own[0]+stolen1[0]+stolen2[0] == 1, "nobody got the item, and no one was faster")
		settle(d, 1, own, stolen1, stolen2)
	})
}

// TestModelABPTag: a thief that has looked sleeps through rounds of the indices, and then finds all words as they were
// except the tag.
func TestModelABPTag(t *testing.T) {
	model.Check(t, func() {
		d := newABP[int](2)
		all := items(4)
		own, stolen := make(ledger, 4), make(ledger, 4)
		push(d, own, all[0])
		join := thief(d, 1, stolen)
		own.pop(d)
		push(d, own, all[1], all[2])
		own.pop(d)
		own.pop(d)
		push(d, own, all[3])
		own.pop(d)
		join()
		settle(d, 4, own, stolen)
	})
}

// TestModelABPSlowThief: the owner comes back to the slot of a thief that has claimed an item and not yet read it, and
// to the end of the array.
func TestModelABPSlowThief(t *testing.T) {
	model.Check(t, func() {
		d := newABP[int](2)
		all := items(5)
		own, stolen1, stolen2 := make(ledger, 5), make(ledger, 5), make(ledger, 5)
		push(d, own, all[0], all[1])
		join1 := thief(d, 1, stolen1)
		join2 := thief(d, 1, stolen2)
		push(d, own, all[2])
		own.pop(d)
		push(d, own, all[3])
		own.pop(d)
		push(d, own, all[4])
		join1()
		join2()
		settle(d, 5, own, stolen1, stolen2)
	})
}

// TestModelABPWrap: the tag wraps meanwhile.
func TestModelABPWrap(t *testing.T) {
	model.Check(t, func() {
		d := newABP[int](2)
		d.age.Store(^uint64(topMask))
		all := items(3)
		own, stolen := make(ledger, 3), make(ledger, 3)
		join := thief(d, 2, stolen)
		for _, p := range all {
			push(d, own, p)
			own.pop(d)
		}
		join()
		settle(d, 3, own, stolen)
	})
}

// TestModelABPEmptyIsTrue: there are two items for two thieves, and each gets one, or has lost a race for it.
func TestModelABPEmptyIsTrue(t *testing.T) {
	model.Check(t, func() {
		d := newABP[int](2)
		all := items(2)
		own := make(ledger, 2)
		push(d, own, all...)
		neverEmpty(d, 2, own)
	})
}

// neverEmpty lets two thieves steal one item each while there are always at least two, and settles.
func neverEmpty(d Queue[int], n int, own ledger, meanwhile ...func()) {
	var joins [2]func()
	ledgers := []ledger{own}
	for i := range joins {
		stolen := make(ledger, n)
		ledgers = append(ledgers, stolen)
		joins[i] = model.Go(func() {
			p, outcome := d.Steal()
			model.Assert(outcome != Empty, "a thief says that a deque is empty which has an item")
			stolen.note(p)
		})
	}
	for _, f := range meanwhile {
		f()
	}
	for _, join := range joins {
		join()
	}
	settle(d, n, ledgers...)
}
