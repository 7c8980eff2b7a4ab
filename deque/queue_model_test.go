//go:build modelcheck

package deque

import (
	"fmt"
	"testing"

	"github.com/magpie-go/magpie/internal/model"
	"github.com/magpie-go/magpie/internal/xatomic"
)

// TestModelQueueSleep: a thief prepares, Ask returns false, and the thief sleeps. An owner that keeps the rules of
// [Queue] wakes it (L1). A thief that sleeps for ever is a deadlock.
func TestModelQueueSleep(t *testing.T) {
	eachKind(t, func(t *testing.T, k Kind, o Options) {
		if k.Receives() {
			t.Skip("nobody steals: TestModelPDQSSleep")
		}
		model.Check(t, func() { askAndSleep(group(k, o).Queue(0)) })
	})
}

// eachKind runs a test for each kind, with small queues. Blocks have one item, or several if thieves ask for items of
// the owner's block.
func eachKind(t *testing.T, test func(t *testing.T, k Kind, o Options)) {
	for _, k := range Kinds() {
		o := Options{Capacity: 3}
		if !k.Blocks() {
			t.Run(k.String(), func(t *testing.T) { test(t, k, o) })
			continue
		}
		for _, size := range []int{1, 4} {
			if o.BlockSize = size; size == 1 || k.Asks() {
				t.Run(fmt.Sprintf("%v,block=%d", k, size), func(t *testing.T) { test(t, k, o) })
			}
		}
	}
}

// group makes a group of two.
func group(k Kind, o Options) *Group[int] {
	g, err := NewGroup[int](k, 2, o)
	model.Assert(err == nil, "%v", err)
	return g
}

// TestModelQueue: every item that is not refused comes out exactly once, by a pop or a steal, or if the owner deals, by
// a Receive of the other owner.
func TestModelQueue(t *testing.T) {
	eachKind(t, func(t *testing.T, k Kind, o Options) {
		stolen := 0
		model.Check(t, func() {
			g := group(k, o)
			d, all := g.Queue(0), items(4)
			d.Ask() // a thief has been here
			own, got := make(ledger, 4), make(ledger, 4)
			var join func()
			if other := g.Queue(1); k.Receives() {
				d.(*pdqs[int]).mean = 0
				join = model.Go(func() { receive(other.(*pdqs[int]), 2, got) })
			} else {
				join = thief(d, 2, got)
			}
			push(d, own, all[:2]...)
			own.pop(d)
			push(d, own, all[2:]...)
			own.pop(d)
			drain(d, 4, join, own, got)
			for _, n := range got {
				stolen += n
			}
		})
		model.Reached(t, stolen, "an item stolen")
	})
}

func askAndSleep(d Queue[int]) {
	all := items(3)
	own, stolen := make(ledger, 3), make(ledger, 3)
	var woken, over xatomic.Bool
	tell := func(effect Effect) {
		if effect == Shown {
			woken.Store(true)
		}
	}
	join := model.Go(func() {
		for {
			woken.Store(false) // prepares
			if !d.Ask() {
				woken.Await()
			}
			p, outcome := d.Steal()
			model.Assert((p != nil) == (outcome == Stolen), "steal returned %v with outcome %v", p, outcome)
			if stolen.note(p); p != nil {
				break
			}
		}
		over.Store(true)
	})
	for _, p := range all {
		tell(push(d, own, p))
	}
	for !over.Load() {
		tell(d.Poll())
		model.Spin()
	}
	drain(d, 3, join, own, stolen)
}
