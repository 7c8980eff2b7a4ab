//go:build modelcheck

package deque

import (
	"testing"

	"github.com/magpie-go/magpie/internal/model"
)

// TestModelEmptyIsTrue: no thief finds a deque empty that has an item all the time. There are two items for two
// thieves, and each gets one, or has lost a race for it. After a wrong Empty a scheduler would sleep beside the other
// item.
func TestModelEmptyIsTrue(t *testing.T) {
	model.Check(t, func() {
		d := newChaseLev[int](2)
		all := items(2)
		for _, p := range all {
			d.Push(p)
		}
		var joins [2]func()
		var stolen [2]ledger
		for i := range joins {
			stolen[i] = make(ledger, 2)
			joins[i] = model.Go(func() {
				p, outcome := d.Steal()
				model.Assert(outcome != Empty, "a thief says that a deque is empty which has an item")
				stolen[i].note(p)
			})
		}
		for _, join := range joins {
			join()
		}
		settle(d, 2, stolen[0], stolen[1])
	})
}
