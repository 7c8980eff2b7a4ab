//go:build modelcheck

package deque

import (
	"fmt"
	"testing"

	"github.com/magpie-go/magpie/internal/model"
	"github.com/magpie-go/magpie/internal/xatomic"
)

// drain pops until nothing is left, waits by join for the end of the thieves, and checks that every item came out
// exactly once.
func drain(d Queue[int], n int, join func(), ledgers ...ledger) {
	own := make(ledger, n)
	own.popAll(d)
	join()
	onlyOnce(n, append(ledgers, own)...)
}

// TestModelPDQR: every pushed item comes out exactly once, by a pop or a steal, and Pop returns nil only when the thief
// has the rest.
func TestModelPDQR(t *testing.T) {
	model.Check(t, func() {
		d := newPDQR[int](0)
		all := items(4)
		own, stolen := make(ledger, 4), make(ledger, 4)
		join := thief(d, 3, stolen)
		d.Push(all[0])
		d.Push(all[1])
		own.pop(d)
		d.Push(all[2])
		d.Push(all[3])
		drain(d, 4, join, own, stolen)
	})
}

// TestModelPDQRTwoThieves: the same with two thieves.
func TestModelPDQRTwoThieves(t *testing.T) {
	model.Check(t, func() {
		d := newPDQR[int](0)
		all := items(3)
		own, stolen1, stolen2 := make(ledger, 3), make(ledger, 3), make(ledger, 3)
		join1 := thief(d, 2, stolen1)
		join2 := thief(d, 1, stolen2)
		d.Push(all[0])
		d.Push(all[1])
		own.pop(d)
		d.Push(all[2])
		drain(d, 3, func() { join1(); join2() }, own, stolen1, stolen2)
	})
}

// TestModelPDQRLastItem: the owner takes back the item that it put ready while two thieves fetch it, and then refuses
// their requests.
func TestModelPDQRLastItem(t *testing.T) {
	model.Check(t, func() {
		d := newPDQR[int](0)
		stolen1, stolen2 := make(ledger, 1), make(ledger, 1)
		d.Push(items(1)[0])
		join1 := thief(d, 2, stolen1)
		join2 := thief(d, 2, stolen2)
		drain(d, 1, func() { join1(); join2() }, stolen1, stolen2)
		model.Assert(d.mail.Load() == d.idle, "the owner has nothing and does not say so")
	})
}

// TestModelPDQRRefuse: an owner that has no more items than it keeps refuses a thief that waits, and keeps its items.
func TestModelPDQRRefuse(t *testing.T) {
	model.Check(t, func() {
		d := newPDQR[int](1)
		all := items(2)
		own, stolen := make(ledger, 2), make(ledger, 2)
		d.Push(all[0])
		d.Push(all[1])
		join := thief(d, 2, stolen)
		d.Poll()
		p, _ := d.Pop()
		model.Assert(p == all[1], "the owner has lost what it keeps")
		own.note(p)
		drain(d, 2, join, own, stolen)
	})
}

// TestModelPDQRSleep: thieves that got nothing sleep, and the owner, which polls as long as it works, wakes one
// whenever an operation returns Shown. Each thief gets an item. A thief that sleeps for ever is a deadlock.
func TestModelPDQRSleep(t *testing.T) {
	for thieves := 1; thieves <= 2; thieves++ {
		t.Run(fmt.Sprintf("thieves=%d", thieves), func(t *testing.T) {
			model.Check(t, func() { sleepers(newPDQR[int](0), thieves) })
		})
	}
}

// sleepers has as many items as thieves, and one that the owner may pop before.
func sleepers(d Queue[int], thieves int) {
	const awake, prepared, notified = 0, 1, 2
	all := items(thieves + 1)
	states := make([]xatomic.Int32, thieves)
	var over xatomic.Int32
	notify := func() {
		for i := range states {
			if states[i].CompareAndSwap(prepared, notified) {
				return
			}
		}
	}
	joins := make([]func(), thieves)
	for i := range joins {
		joins[i] = model.Go(func() {
			for {
				states[i].Store(prepared)
				if !d.Ask() {
					states[i].Await(func(s int32) bool { return s != prepared })
				} else if states[i].Swap(awake) == notified {
					notify() // another in its place
				}
				if _, outcome := d.Steal(); outcome == Stolen {
					over.Add(1)
					return
				}
			}
		})
	}
	tell := func(effect Effect) {
		if effect == Shown {
			notify()
		}
	}
	tell(d.Push(all[0]))
	p, effect := d.Pop()
	tell(effect)
	if p == nil {
		all = all[:thieves]
	}
	for _, p := range all[1:] {
		tell(d.Push(p))
	}
	for over.Load() < int32(thieves) {
		tell(d.Poll())
		model.Spin()
	}
	for _, join := range joins {
		join()
	}
}
