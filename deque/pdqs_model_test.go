//go:build modelcheck

package deque

import (
	"testing"

	"github.com/magpie-go/magpie/internal/model"
	"github.com/magpie-go/magpie/internal/xatomic"
)

// ringing returns a group in which every owner tries to deal at each operation.
func ringing(n int) *pdqsGroup[int] {
	g := newPDQSGroup[int](n, 0, 0)
	for i := range g.members {
		g.Queue(i).AlwaysRing()
	}
	return g
}

// aim makes the next three alarms of d choose member i.
func (d *pdqs[T]) aim(i int) {
	for seed := pdqsRandom(1); ; seed++ {
		d.random = seed
		aimed := true
		for range 3 {
			d.random.next()
			aimed = aimed && d.another() == i
		}
		if d.random = seed; aimed {
			return
		}
	}
}

// receive waits n times and notes the items.
func receive(d *pdqs[int], n int, got ledger) {
	for range n {
		p, outcome := d.Receive()
		model.Assert((p != nil) == (outcome == Stolen), "Receive returned %v with outcome %v", p, outcome)
		got.note(p)
		model.Assert(d.cell.Load() == nil, "an owner that works seems to wait")
	}
}

// TestModelPDQS: an owner deals and pops while another waits, in vain or not, and waits again. Every item comes out
// exactly once.
func TestModelPDQS(t *testing.T) {
	dealt := 0
	model.Check(t, func() {
		g := ringing(2)
		all := items(3)
		own, got := make(ledger, 3), make(ledger, 3)
		join := model.Go(func() { receive(g.Queue(1), 2, got) })
		d := g.Queue(0)
		d.Push(all[0])
		d.Push(all[1])
		own.pop(d)
		d.Push(all[2])
		drain(d, 3, join, own, got)
		dealt += got[0] + got[1] + got[2]
	})
	model.Reached(t, dealt, "an item dealt")
}

// TestModelPDQSLastItem: the only item is dealt to an owner that gives up its wait.
func TestModelPDQSLastItem(t *testing.T) {
	dealt := 0
	model.Check(t, func() {
		g := ringing(2)
		got := make(ledger, 1)
		join := model.Go(func() { receive(g.Queue(1), 1, got) })
		d := g.Queue(0)
		d.Push(items(1)[0])
		d.Poll()
		drain(d, 1, join, got)
		dealt += got[0]
	})
	model.Reached(t, dealt, "the item dealt")
}

// TestModelPDQSTwoDealers: two owners deal to one that waits.
func TestModelPDQSTwoDealers(t *testing.T) {
	dealt := [2]int{}
	model.Check(t, func() {
		g := ringing(3)
		all := items(4)
		own1, got := make(ledger, 4), make(ledger, 4)
		join1 := model.Go(func() {
			d := g.Queue(1)
			d.aim(2)
			d.Push(all[2])
			d.Push(all[3])
			own1.popAll(d)
		})
		join2 := model.Go(func() { receive(g.Queue(2), 2, got) })
		d := g.Queue(0)
		d.aim(2)
		d.Push(all[0])
		d.Push(all[1])
		drain(d, 4, func() { join1(); join2() }, own1, got)
		for i := range dealt {
			dealt[i] += got[2*i]
		}
	})
	model.Reached(t, dealt[0], "an item of the one dealt")
	model.Reached(t, dealt[1], "an item of the other dealt")
}

// TestModelPDQSEachOther: two owners deal to each other, and both wait.
func TestModelPDQSEachOther(t *testing.T) {
	crossed := 0
	model.Check(t, func() {
		g := ringing(2)
		all := items(4)
		var own, got [2]ledger
		work := func(i int) {
			d := g.Queue(i)
			own[i], got[i] = make(ledger, 4), make(ledger, 4)
			d.Push(all[2*i])
			own[i].pop(d)
			receive(d, 1, got[i])
			d.Push(all[2*i+1])
			own[i].popAll(d)
			receive(d, 1, got[i])
		}
		join := model.Go(func() { work(1) })
		work(0)
		drain(g.Queue(0), 4, join, own[0], own[1], got[0], got[1])
		if got[0][2]+got[0][3] > 0 && got[1][0]+got[1][1] > 0 {
			crossed++
		}
	})
	model.Reached(t, crossed, "items dealt both ways")
}

// TestModelPDQSSleep: an owner that waits in vain sleeps, and the owner of an item, which polls as long as it has the
// item, wakes it. An owner that sleeps for ever is a deadlock.
func TestModelPDQSSleep(t *testing.T) {
	dealt := 0
	model.Check(t, func() {
		g := ringing(2)
		all := items(2)
		got := make(ledger, 2)
		var woken, over xatomic.Bool
		join := model.Go(func() {
			woken.Store(false) // prepares
			p, outcome := g.Queue(1).Receive()
			got.note(p)
			if outcome == NotReady {
				woken.Await()
			}
			over.Store(true)
		})
		d := g.Queue(0)
		tell := func(effect Effect) {
			if effect == Shown {
				woken.Store(true)
			}
		}
		for _, p := range all {
			tell(d.Push(p))
		}
		for !over.Load() {
			tell(d.Poll())
			model.Spin()
		}
		drain(d, 2, join, got)
		dealt += got[0]
	})
	model.Reached(t, dealt, "an item dealt")
}
