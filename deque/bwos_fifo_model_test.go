//go:build modelcheck

package deque

import (
	"math"
	"testing"

	"github.com/magpie-go/magpie/internal/model"
)

// TestModelBWoSFIFOOwnerThief: every pushed item comes out exactly once, by a pop or a steal.
func TestModelBWoSFIFOOwnerThief(t *testing.T) {
	model.Check(t, func() {
		d := newBWoSFIFO[int](4, 1)
		all := items(5)
		own, stolen := make(ledger, 5), make(ledger, 5)
		join := thief(d, 2, stolen)
		push(d, own, all[:4]...)
		own.pop(d)
		own.pop(d)
		push(d, own, all[4])
		own.pop(d)
		join()
		settle(d, 5, own, stolen)
	})
}

// TestModelBWoSFIFOTakeover: the owner comes to a block while two thieves steal from it. They keep the items that they
// have claimed.
func TestModelBWoSFIFOTakeover(t *testing.T) {
	model.Check(t, func() {
		d := newBWoSFIFO[int](6, 2)
		all := items(6)
		own, stolen1, stolen2 := make(ledger, 6), make(ledger, 6), make(ledger, 6)
		push(d, own, all[:5]...)
		own.pop(d)
		own.pop(d)
		join1 := thief(d, 1, stolen1)
		join2 := thief(d, 1, stolen2)
		own.pop(d)
		push(d, own, all[5])
		own.pop(d)
		join1()
		join2()
		settle(d, 6, own, stolen1, stolen2)
	})
}

// TestModelBWoSFIFOReuse: the owner comes round to a block of which thieves have taken a part, and one of them has not
// yet read its item; or to a block that has items, and then the queue is full.
func TestModelBWoSFIFOReuse(t *testing.T) {
	model.Check(t, func() {
		d := newBWoSFIFO[int](4, 1)
		all := items(7)
		own, stolen1, stolen2 := make(ledger, 7), make(ledger, 7), make(ledger, 7)
		push(d, own, all[:4]...)
		join1 := thief(d, 1, stolen1)
		join2 := thief(d, 1, stolen2)
		own.pop(d)
		own.pop(d)
		push(d, own, all[4:]...)
		join1()
		join2()
		settle(d, 7, own, stolen1, stolen2)
	})
}

// TestModelBWoSFIFOOrder: the owner pops items in the order of the pushes, and a thief steals them in that order, while
// the block numbers and rounds wrap.
func TestModelBWoSFIFOOrder(t *testing.T) {
	model.Check(t, func() {
		d := NewBWoSFIFOAt[int](2, 1, math.MaxUint64)
		all := items(6)
		own, stolen := make(ledger, 6), make(ledger, 6)
		ascending := func(l ledger, last *int, p *int) {
			if p != nil {
				model.Assert(*p > *last, "item %d after %d", *p, *last)
				*last = *p
				l.note(p)
			}
		}
		join := model.Go(func() {
			last := -1
			for range 2 {
				p, _ := d.Steal()
				ascending(stolen, &last, p)
			}
		})
		last := -1
		for i, p := range all {
			push(d, own, p)
			if i%2 == 1 {
				p, _ := d.Pop()
				ascending(own, &last, p)
			}
		}
		join()
		settle(d, 6, own, stolen)
	})
}
