//go:build modelcheck

package deque

import (
	"testing"

	"github.com/magpie-go/magpie/internal/model"
	"github.com/magpie-go/magpie/internal/xatomic"
)

// TestModelADWS: what the owner pushes comes out exactly once, by its pops or the steals of two thieves, and Pop says that
// there is nothing only when thieves have the rest.
func TestModelADWS(t *testing.T) {
	model.Check(t, func() {
		d := NewADWS[int](0)
		all := items(3)
		own := make(ledger, 3)
		d.Steal() // asks
		d.Push(all[0])
		var stolen [2]ledger
		var joins [2]func()
		for i := range joins {
			stolen[i] = make(ledger, 3)
			joins[i] = model.Go(func() {
				for range 2 {
					p, outcome := d.Steal()
					model.Assert((p != nil) == (outcome == Stolen), "steal returned %v with outcome %v", p, outcome)
					stolen[i].note(p)
				}
			})
		}
		d.Push(all[1])
		own.note(d.Pop())
		d.Push(all[2])
		for p := d.Pop(); p != nil; p = d.Pop() {
			own.note(p)
		}
		for _, join := range joins {
			join()
		}
		for i := range all {
			n := own[i] + stolen[0][i] + stolen[1][i]
			model.Assert(n == 1, "item %d came out %d times", i, n)
		}
	})
}

// TestModelADWSSleep: as TestModelPadWSSleep.
func TestModelADWSSleep(t *testing.T) {
	model.Check(t, func() {
		d := NewADWS[int](0)
		all := items(2)
		var woken, over xatomic.Bool
		notify := func(granted int) {
			if granted > 0 {
				woken.Store(true)
			}
		}
		join := model.Go(func() {
			for {
				woken.Store(false) // prepares
				_, outcome := d.Steal()
				if outcome == Stolen {
					break
				}
				if outcome == NotReady {
					woken.Await()
				}
			}
			over.Store(true)
		})
		for _, p := range all {
			notify(d.Poll())
			d.Push(p)
			notify(d.Granted())
		}
		for !over.Load() {
			notify(d.Poll())
			model.Spin()
		}
		join()
	})
}
