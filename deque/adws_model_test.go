//go:build modelcheck

package deque

import (
	"testing"

	"github.com/magpie-go/magpie/internal/model"
	"github.com/magpie-go/magpie/internal/xatomic"
)

// TestModelADWS: every pushed item comes out exactly once, by a pop or the steals of two thieves, and Pop returns nil
// only when thieves have the rest.
func TestModelADWS(t *testing.T) {
	model.Check(t, func() {
		d := newADWS[int](0)
		all := items(3)
		own, stolen1, stolen2 := make(ledger, 3), make(ledger, 3), make(ledger, 3)
		d.Steal() // asks
		d.Push(all[0])
		join1 := thief(d, 2, stolen1)
		join2 := thief(d, 2, stolen2)
		d.Push(all[1])
		own.pop(d)
		d.Push(all[2])
		drain(d, 3, func() { join1(); join2() }, own, stolen1, stolen2)
	})
}

// TestModelADWSSleep: as TestModelPadWSSleep.
func TestModelADWSSleep(t *testing.T) {
	model.Check(t, func() {
		d := newADWS[int](0)
		all := items(2)
		var woken, over xatomic.Bool
		notify := func(effect Effect) {
			if effect == Shown {
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
			notify(d.Push(p))
		}
		for !over.Load() {
			notify(d.Poll())
			model.Spin()
		}
		join()
	})
}
