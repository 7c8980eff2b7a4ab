//go:build modelcheck

package deque

import (
	"testing"

	"github.com/magpie-go/magpie/internal/model"
)

// A ledger counts how often each item came out. Its owner adds up after all threads have been joined.
type ledger []int

func (l ledger) note(p *int) {
	if p != nil {
		l[*p]++
	}
}

// popAll pops until nothing is left.
func (l ledger) popAll(d Queue[int]) {
	for l.pop(d) != nil {
	}
}

// pop pops an item and notes it.
func (l ledger) pop(d Queue[int]) *int {
	p, effect := d.Pop()
	model.Assert(effect != Refused, "a pop was refused")
	l.note(p)
	return p
}

// onlyOnce checks that each of n items came out exactly once.
func onlyOnce(n int, ledgers ...ledger) {
	for i := range n {
		times := 0
		for _, l := range ledgers {
			times += l[i]
		}
		model.Assert(times == 1, "item %d came out %d times", i, times)
	}
}

// items returns items 0 … n-1.
func items(n int) []*int {
	all := make([]*int, n)
	for i := range all {
		all[i] = new(int)
		*all[i] = i
	}
	return all
}

// thief starts a thread that steals n times, and returns a function that waits for its end.
func thief(d Thief[int], n int, got ledger) (join func()) {
	return model.Go(func() {
		for range n {
			p, outcome := d.Steal()
			model.Assert((p != nil) == (outcome == Stolen), "steal returned %v with outcome %v", p, outcome)
			got.note(p)
		}
	})
}

// settle pops the rest and checks that every item came out exactly once.
func settle(d Queue[int], n int, ledgers ...ledger) {
	own := make(ledger, n)
	own.popAll(d)
	onlyOnce(n, append(ledgers, own)...)
	model.Assert(!d.Ask(), "the deque says that it has items")
	model.Assert(d.Len() == 0, "the deque says it has %d items", d.Len())
}

// TestModelOwnerThief: every pushed item comes out exactly once, by a pop or a steal.
func TestModelOwnerThief(t *testing.T) {
	model.Check(t, func() {
		d := newChaseLev[int](4)
		all := items(3)
		own, stolen := make(ledger, 3), make(ledger, 3)
		join := thief(d, 2, stolen)
		d.Push(all[0])
		d.Push(all[1])
		own.pop(d)
		d.Push(all[2])
		own.pop(d)
		join()
		settle(d, 3, own, stolen)
	})
}

// TestModelTwoThieves: the same with two thieves.
func TestModelTwoThieves(t *testing.T) {
	model.Check(t, func() {
		d := newChaseLev[int](4)
		all := items(3)
		own, stolen1, stolen2 := make(ledger, 3), make(ledger, 3), make(ledger, 3)
		d.Push(all[0])
		d.Push(all[1])
		join1 := thief(d, 1, stolen1)
		join2 := thief(d, 2, stolen2)
		own.pop(d)
		d.Push(all[2])
		own.pop(d)
		join1()
		join2()
		settle(d, 3, own, stolen1, stolen2)
	})
}

// TestModelLastItem: the owner and two thieves go for one item; one of them gets it.
func TestModelLastItem(t *testing.T) {
	model.Check(t, func() {
		d := newChaseLev[int](2)
		all := items(1)
		own, stolen1, stolen2 := make(ledger, 1), make(ledger, 1), make(ledger, 1)
		d.Push(all[0])
		join1 := thief(d, 1, stolen1)
		join2 := thief(d, 1, stolen2)
		own.pop(d)
		join1()
		join2()
		model.Assert(own[0]+stolen1[0]+stolen2[0] == 1, "nobody got the item, and no one was faster")
		settle(d, 1, own, stolen1, stolen2)
	})
}

// TestModelTwoLeft: the owner announces a pop of one of two items while two thieves claim both.
func TestModelTwoLeft(t *testing.T) {
	model.Check(t, func() {
		d := newChaseLev[int](2)
		all := items(2)
		own, stolen1, stolen2 := make(ledger, 2), make(ledger, 2), make(ledger, 2)
		d.Push(all[0])
		d.Push(all[1])
		join1 := thief(d, 1, stolen1)
		join2 := thief(d, 1, stolen2)
		own.pop(d)
		own.pop(d)
		join1()
		join2()
		settle(d, 2, own, stolen1, stolen2)
	})
}

// TestModelGrowDuringSteal: a thief is in the middle of a steal while the owner grows the ring (CVE-2021-32810).
func TestModelGrowDuringSteal(t *testing.T) {
	model.Check(t, func() {
		d := newChaseLev[int](2)
		all := items(4)
		own, stolen := make(ledger, 4), make(ledger, 4)
		d.Push(all[0])
		d.Push(all[1])
		join := thief(d, 2, stolen)
		d.Push(all[2]) // the ring has two slots
		own.pop(d)
		d.Push(all[3])
		join()
		settle(d, 4, own, stolen)
	})
}

// TestModelSlowThief: the owner comes round to a slot that a thief has claimed and not emptied.
func TestModelSlowThief(t *testing.T) {
	model.Check(t, func() {
		d := newChaseLev[int](2)
		all := items(5)
		own, stolen := make(ledger, 5), make(ledger, 5)
		d.Push(all[0])
		join := thief(d, 1, stolen)
		for _, p := range all[1:] {
			d.Push(p)
			own.pop(d)
		}
		join()
		settle(d, 5, own, stolen)
	})
}

// TestModelWrap: the indices wrap meanwhile.
func TestModelWrap(t *testing.T) {
	model.Check(t, func() {
		d := newChaseLev[int](2)
		var start uint64
		start -= 2 * one
		d.b = start
		d.bottom.Store(start)
		d.top.Store(start)
		all := items(4)
		own, stolen := make(ledger, 4), make(ledger, 4)
		join := thief(d, 2, stolen)
		for _, p := range all {
			d.Push(p)
		}
		own.pop(d)
		join()
		settle(d, 4, own, stolen)
	})
}
