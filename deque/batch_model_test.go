//go:build modelcheck

package deque

import (
	"testing"

	"github.com/magpie-go/magpie/internal/model"
)

// batchThief starts a thread that steals n batches of at most room items, and returns a function that waits for its
// end.
func batchThief(d Batcher[int], n int, batch Batch, room int, got ledger) (join func()) {
	return model.Go(func() {
		for range n {
			into := make([]*int, room)
			count, outcome := d.StealBatch(into, batch)
			model.Assert((count > 0) == (outcome == Stolen), "a batch of %d with outcome %v", count, outcome)
			for i, p := range into {
				model.Assert((p != nil) == (i < count), "a batch of %d has another number of items", count)
				got.note(p)
			}
		}
	})
}

// TestModelBWoSBatchTakeover: the owner takes a block back while one thief claims two of its items and another thief
// one. The thieves keep the items that they have claimed, and the owner gets the rest and grants it again.
func TestModelBWoSBatchTakeover(t *testing.T) {
	model.Check(t, func() {
		d := newBWoS[int](6, 3)
		all := items(6)
		own, stolen1, stolen2 := make(ledger, 6), make(ledger, 6), make(ledger, 6)
		push(d, own, all[:4]...)
		join1 := batchThief(d, 1, Half, 3, stolen1)
		join2 := thief(d, 1, stolen2)
		own.pop(d)
		own.pop(d)
		push(d, own, all[4:]...)
		own.pop(d)
		join1()
		join2()
		settle(d, 6, own, stolen1, stolen2)
	})
}

// TestModelBWoSBatchReuse: the owner comes round to a block of which two thieves have claimed all items and not yet
// read all.
func TestModelBWoSBatchReuse(t *testing.T) {
	model.Check(t, func() {
		d := newBWoS[int](4, 2)
		all := items(6)
		own, stolen1, stolen2 := make(ledger, 6), make(ledger, 6), make(ledger, 6)
		push(d, own, all[:3]...)
		join1 := batchThief(d, 1, Block, 2, stolen1)
		join2 := batchThief(d, 2, Half, 1, stolen2)
		push(d, own, all[3:]...)
		own.pop(d)
		join1()
		join2()
		settle(d, 6, own, stolen1, stolen2)
	})
}

// TestModelBWoSFIFOBatch: the owner comes to a block, and later round to it, while a thief takes two of its items.
func TestModelBWoSFIFOBatch(t *testing.T) {
	model.Check(t, func() {
		d := newBWoSFIFO[int](6, 3)
		all := items(9)
		own, stolen1, stolen2 := make(ledger, 9), make(ledger, 9), make(ledger, 9)
		d.in.next, d.out.next = 2, 2 // so that the first block has one item
		push(d, own, all[:5]...)
		join1 := batchThief(d, 1, Half, 2, stolen1)
		join2 := thief(d, 1, stolen2)
		own.pop(d)
		own.pop(d)
		push(d, own, all[5:]...)
		join1()
		join2()
		settle(d, 9, own, stolen1, stolen2)
	})
}

// TestModelPadWSBatchRevoke: the owner takes back three granted items, grants again, and pops, while one thief claims
// two of them and another thief one.
func TestModelPadWSBatchRevoke(t *testing.T) {
	model.Check(t, func() {
		d := newPadWS[int](padWSConfig{Entries: 4, Blocks: 2, Window: 3})
		all := items(5)
		own, stolen1, stolen2 := make(ledger, 5), make(ledger, 5), make(ledger, 5)
		push(d, own, all[:3]...)
		d.AskFor(3)
		d.Poll()
		model.Assert(d.Own() == 0, "the owner has %d", d.Own())
		join1 := batchThief(d, 1, Half, 4, stolen1)
		join2 := thief(d, 1, stolen2)
		own.pop(d)
		push(d, own, all[3], all[4])
		own.popAll(d)
		join1()
		join2()
		padSettle(d, 5, own, stolen1, stolen2)
	})
}

// TestModelPadWSBatchGrant: a thief takes all items that it may while the owner grants more. It gets only granted
// items, and the owner keeps the rest.
func TestModelPadWSBatchGrant(t *testing.T) {
	model.Check(t, func() {
		d := newPadWS[int](padWSConfig{Entries: 4, Blocks: 2, Window: 2})
		all := items(4)
		own, stolen := make(ledger, 4), make(ledger, 4)
		push(d, own, all...)
		d.AskFor(1)
		d.Poll()
		join := batchThief(d, 2, Block, 4, stolen)
		own.pop(d)
		d.Poll()
		own.pop(d)
		own.popAll(d)
		join()
		padSettle(d, 4, own, stolen)
	})
}

// TestModelPadWSBatchTakeover: the owner comes back to a block of which one thief takes half and another thief one
// item.
func TestModelPadWSBatchTakeover(t *testing.T) {
	model.Check(t, func() {
		d := newPadWS[int](padWSConfig{Entries: 3, Blocks: 2})
		all := items(5)
		own, stolen1, stolen2 := make(ledger, 5), make(ledger, 5), make(ledger, 5)
		push(d, own, all[:4]...)
		join1 := batchThief(d, 1, Half, 3, stolen1)
		join2 := thief(d, 1, stolen2)
		own.pop(d)
		own.pop(d)
		push(d, own, all[4])
		own.popAll(d)
		join1()
		join2()
		padSettle(d, 5, own, stolen1, stolen2)
	})
}

// TestModelPadWSBatchReuse: the owner comes round to a block in which a thief is still copying a batch.
func TestModelPadWSBatchReuse(t *testing.T) {
	model.Check(t, func() {
		d := newPadWS[int](padWSConfig{Entries: 2, Blocks: 2})
		all := items(6)
		own, stolen := make(ledger, 6), make(ledger, 6)
		push(d, own, all[:3]...)
		join := batchThief(d, 2, Block, 2, stolen)
		push(d, own, all[3:]...)
		own.popAll(d)
		join()
		padSettle(d, 6, own, stolen)
	})
}
