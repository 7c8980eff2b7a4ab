//go:build modelcheck

package deque

import (
	"testing"

	"github.com/magpie-go/magpie/internal/model"
	"github.com/magpie-go/magpie/internal/testkit"
)

// TestModelRandomPadWS: random programs of an owner and up to three thieves, of single items or batches, on blocks so
// small that they come round many times. Every item comes out exactly once, and a Pop that finds nothing means that
// thieves have the rest.
func TestModelRandomPadWS(t *testing.T) {
	n := testkit.Count(t, 5_000)
	model.CheckRandom(t, n, testkit.Seed(t), func() {
		c := padWSConfig{
			Entries: 1 + model.Choose(3), Blocks: 2 + model.Choose(2), Window: 1 + model.Choose(2),
			Keep: model.Choose(2),
		}
		d := NewPadWSAt[int](c, PadEpochs-uint64(model.Choose(4)))
		const most = 12
		all := items(most)
		own := make(ledger, most)
		ledgers := []ledger{own}
		var joins []func()
		for range 1 + model.Choose(3) {
			stolen := make(ledger, most)
			ledgers = append(ledgers, stolen)
			if n := 1 + model.Choose(6); model.Choose(2) == 0 {
				joins = append(joins, thief(d, n, stolen))
			} else {
				joins = append(joins, batchThief(d, n, Batch(model.Choose(3)), 1+model.Choose(3), stolen))
			}
		}
		pushed := 0
		for range 4 + model.Choose(16) {
			switch model.Choose(5) {
			case 0, 1, 2:
				if pushed < most {
					push(d, own, all[pushed])
					pushed++
				}
			case 3:
				own.pop(d)
			default:
				d.Poll()
			}
		}
		own.popAll(d)
		for _, join := range joins {
			join()
		}
		padSettle(d, pushed, ledgers...)
	})
}
