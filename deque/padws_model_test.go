//go:build modelcheck

package deque

import (
	"fmt"
	"testing"

	"github.com/magpie-go/magpie/internal/model"
	"github.com/magpie-go/magpie/internal/xatomic"
)

// padAsk leaves the request of a thief that found nothing.
func padAsk(d *padWS[int]) {
	_, outcome := d.Steal()
	model.Assert(outcome == NotReady, "a steal from a new deque: %v", outcome)
}

// padSettle checks, when the thieves have ended, that every item came out exactly once and left its place.
func padSettle(d *padWS[int], n int, ledgers ...ledger) {
	onlyOnce(n, ledgers...)
	model.Assert(d.Occupied() == 0, "something is left in a block")
	d.CheckRest()
}

// TestModelPadWSLastItem: one item was granted; the owner takes it back while a thief claims it.
func TestModelPadWSLastItem(t *testing.T) {
	model.Check(t, func() {
		d := newPadWS[int](padWSConfig{Entries: 2, Blocks: 2})
		own, stolen := make(ledger, 1), make(ledger, 1)
		padAsk(d)
		push(d, own, items(1)[0])
		join := thief(d, 1, stolen)
		own.popAll(d)
		join()
		padSettle(d, 1, own, stolen)
	})
}

// TestModelPadWSOwnerThief: every pushed item comes out exactly once, by a pop or a steal, and Pop returns nil only
// when the thief has the rest.
func TestModelPadWSOwnerThief(t *testing.T) {
	model.Check(t, func() {
		d := newPadWS[int](padWSConfig{Entries: 2, Blocks: 2})
		all := items(4)
		own, stolen := make(ledger, 4), make(ledger, 4)
		join := thief(d, 3, stolen)
		push(d, own, all[0], all[1])
		own.pop(d)
		push(d, own, all[2], all[3])
		own.popAll(d)
		join()
		padSettle(d, 4, own, stolen)
	})
}

// TestModelPadWSTwoThieves: the same with two thieves.
func TestModelPadWSTwoThieves(t *testing.T) {
	model.Check(t, func() {
		d := newPadWS[int](padWSConfig{Entries: 2, Blocks: 2})
		all := items(3)
		own, stolen1, stolen2 := make(ledger, 3), make(ledger, 3), make(ledger, 3)
		padAsk(d)
		push(d, own, all[0])
		join1 := thief(d, 2, stolen1)
		join2 := thief(d, 1, stolen2)
		push(d, own, all[1], all[2])
		own.popAll(d)
		join1()
		join2()
		padSettle(d, 3, own, stolen1, stolen2)
	})
}

// TestModelPadWSRevoke: the owner takes back two granted items, grants again, and pops, while a thief claims.
func TestModelPadWSRevoke(t *testing.T) {
	model.Check(t, func() {
		d := newPadWS[int](padWSConfig{Entries: 3, Blocks: 2, Window: 2})
		all := items(3)
		own, stolen := make(ledger, 3), make(ledger, 3)
		padAsk(d)
		d.asked.Add(1) // another thief's
		push(d, own, all[0], all[1])
		model.Assert(d.Own() == 0, "the owner has %d", d.Own())
		join := thief(d, 2, stolen)
		own.pop(d)
		push(d, own, all[2])
		own.popAll(d)
		join()
		padSettle(d, 3, own, stolen)
	})
}

// TestModelPadWSTakeover: the owner comes back to a block from which thieves steal.
func TestModelPadWSTakeover(t *testing.T) {
	model.Check(t, func() {
		d := newPadWS[int](padWSConfig{Entries: 2, Blocks: 2})
		all := items(4)
		own, stolen1, stolen2 := make(ledger, 4), make(ledger, 4), make(ledger, 4)
		push(d, own, all[:3]...)
		join1 := thief(d, 1, stolen1)
		join2 := thief(d, 1, stolen2)
		own.pop(d)
		own.pop(d)
		push(d, own, all[3])
		own.popAll(d)
		join1()
		join2()
		padSettle(d, 4, own, stolen1, stolen2)
	})
}

// TestModelPadWSReuse: the owner comes round to a block in which a thief is still copying.
func TestModelPadWSReuse(t *testing.T) {
	model.Check(t, func() {
		d := newPadWS[int](padWSConfig{Entries: 1, Blocks: 2})
		all := items(4)
		own, stolen := make(ledger, 4), make(ledger, 4)
		padAsk(d)
		push(d, own, all[0])
		join := thief(d, 2, stolen)
		push(d, own, all[1], all[2])
		own.pop(d)
		push(d, own, all[3])
		own.popAll(d)
		join()
		padSettle(d, 4, own, stolen)
	})
}

// TestModelPadWSPassed: the owner goes up to a block that oldest has reached before, while a thief looks at it. Two
// threads leave oldest there: one of them looked while the owner was above.
func TestModelPadWSPassed(t *testing.T) {
	model.Check(t, func() {
		d := newPadWS[int](padWSConfig{Entries: 1, Blocks: 2})
		all := items(4)
		own, stolen := make(ledger, 4), make(ledger, 4)
		for _, p := range all[:2] {
			push(d, own, p)
			d.asked.Add(1)
			d.Poll()
			p, _ := d.Steal()
			own.note(p)
		}
		d.oldest.Store(int64(d.Newest()) + 1)
		var begun, pushed xatomic.Bool
		join := thief(d, 1, stolen)
		// Waits give the thief its turns without a preemption of the owner.
		joinBegun := model.Go(func() { begun.Store(true) })
		begun.Await()
		push(d, own, all[2:]...)
		joinPushed := model.Go(func() { pushed.Store(true) })
		pushed.Await()
		own.popAll(d)
		join()
		joinBegun()
		joinPushed()
		padSettle(d, 4, own, stolen)
	})
}

// TestModelPadWSExhaustedAbove: thieves may exhaust a block above one that still has an item. See
// TestPadWSExhaustedAbove, whose thief this one may be.
func TestModelPadWSExhaustedAbove(t *testing.T) {
	model.Check(t, func() {
		d := newPadWS[int](padWSConfig{Entries: 1, Blocks: 3})
		all := items(5)
		own, stolen := make(ledger, 5), make(ledger, 5)
		var begun, pushed xatomic.Bool
		join := thief(d, 1, stolen)
		// Waits give the thief its turns without a preemption of the owner.
		joinBegun := model.Go(func() { begun.Store(true) })
		begun.Await()
		for _, p := range all[:2] {
			push(d, own, p)
			d.asked.Add(1)
			d.Poll()
			p, _ := d.Steal()
			own.note(p)
		}
		push(d, own, all[2:]...)
		joinPushed := model.Go(func() { pushed.Store(true) })
		pushed.Await()
		own.popAll(d)
		join()
		joinBegun()
		joinPushed()
		padSettle(d, 5, own, stolen)
	})
}

// TestModelPadWSWrap: epochs wrap meanwhile.
func TestModelPadWSWrap(t *testing.T) {
	model.Check(t, func() {
		d := NewPadWSAt[int](padWSConfig{Entries: 1, Blocks: 2}, PadEpochs-1)
		all := items(3)
		own, stolen := make(ledger, 3), make(ledger, 3)
		padAsk(d)
		push(d, own, all[0])
		join := thief(d, 2, stolen)
		own.pop(d)
		push(d, own, all[1], all[2])
		own.popAll(d)
		join()
		padSettle(d, 3, own, stolen)
	})
}

// TestModelPadWSSleep: a thief that got nothing sleeps, and the owner, which polls as long as it works, wakes it when
// an operation returns Shown. A thief that sleeps for ever is a deadlock.
func TestModelPadWSSleep(t *testing.T) {
	for entries := 1; entries <= 2; entries++ { // of one, each push opens the block below; of two, none does
		t.Run(fmt.Sprintf("entries=%d", entries), func(t *testing.T) {
			model.Check(t, func() { sleepAndWake(padWSConfig{Entries: entries, Blocks: 2}) })
		})
	}
}

func sleepAndWake(c padWSConfig) {
	d := newPadWS[int](c)
	all := items(2)
	own, stolen := make(ledger, 2), make(ledger, 2)
	var woken, over xatomic.Bool
	notify := func(effect Effect) {
		if effect == Shown {
			woken.Store(true)
		}
	}
	join := model.Go(func() {
		for stolen[0]+stolen[1] == 0 {
			woken.Store(false) // prepares
			p, outcome := d.Steal()
			stolen.note(p)
			if outcome == Empty || outcome == NotReady {
				woken.Await()
			}
		}
		over.Store(true)
	})
	for _, p := range all {
		notify(d.Poll())
		notify(push(d, own, p))
	}
	for !over.Load() {
		notify(d.Poll())
		model.Spin()
	}
	own.popAll(d)
	join()
	padSettle(d, 2, own, stolen)
}
