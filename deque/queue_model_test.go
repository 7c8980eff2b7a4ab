//go:build modelcheck

package deque

import (
	"testing"

	"github.com/magpie-go/magpie/internal/model"
	"github.com/magpie-go/magpie/internal/xatomic"
)

// TestModelQueueSleep: a thief that prepares, hears from Ask that there is nothing, and sleeps, is woken by an owner that
// does what [Queue] says (L1). Nobody sleeps for ever: then no one could go on.
func TestModelQueueSleep(t *testing.T) {
	for name, make := range map[string]func() Queue[int]{
		"chaselev":          func() Queue[int] { return newChaseLev[int](4) },
		"abp":               func() Queue[int] { return newABP[int](2) },
		"bwos,block=1":      func() Queue[int] { return newBWoS[int](2, 1) },
		"bwos-fifo,block=1": func() Queue[int] { return newBWoSFIFO[int](4, 1) },
		"padws,block=1":     func() Queue[int] { return newPadWS[int](padWSConfig{Entries: 1, Blocks: 2}) },
		"padws,block=4":     func() Queue[int] { return newPadWS[int](padWSConfig{Entries: 4, Blocks: 2}) },
		"adws":              func() Queue[int] { return newADWS[int](0) },
		"pdqr":              func() Queue[int] { return newPDQR[int](0) },
		"locked":            func() Queue[int] { return newLocked[int](2) },
	} {
		t.Run(name, func(t *testing.T) {
			model.Check(t, func() { askAndSleep(make()) })
		})
	}
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
