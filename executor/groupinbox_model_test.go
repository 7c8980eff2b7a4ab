//go:build modelcheck

package executor

import (
	"errors"
	"testing"

	"github.com/magpie-go/magpie/internal/model"
)

// TestModelGroupBatch: of functions from outside that came in one batch, one that waits for another hides none, and
// each is called once.
func TestModelGroupBatch(t *testing.T) {
	claimed, halved := 0, 0
	onDefault(t, []int{2}, func(n int, p string) {
		ex := start(n, p)
		g := NewGroup(ex)
		both := barrier{n: 2}
		var all [4]calls
		for i := range all {
			g.Go(func() error {
				both.meet(nil)
				w := ex.currentWorker()
				if other := ex.roster[1-w.id]; partsOf(w).batch != nil {
					claimed++
					if partsOf(other).batch != nil {
						halved++
					}
				}
				return all[i].call()
			})
		}
		waited(g)
		were(&all[0], &all[1], &all[2], &all[3])
		stop(ex)
	})
	model.Reached(t, claimed, "a worker claims a function of a batch")
	model.Reached(t, halved, "a thief takes half of a batch")
}

// TestModelGroupGives: two threads give functions to a group, of which some come while the inbox calls, and are not
// counted in. Each is called once before Wait returns.
func TestModelGroupGives(t *testing.T) {
	gave := 0
	onDefault(t, []int{1}, func(n int, p string) {
		ex := start(n, p)
		g := NewGroup(ex)
		var all [3]calls
		give := func(c *calls) {
			if g.give(c.call, nil) {
				gave++
			} else {
				g.Go(c.call)
			}
		}
		join := model.Go(func() { give(&all[0]) })
		give(&all[1])
		give(&all[2])
		join()
		waited(g)
		were(&all[0], &all[1], &all[2])
		model.Assert(!g.calls && g.oldest == nil, "the inbox calls although the group has ended")
		stop(ex)
	})
	model.Reached(t, gave, "an inbox that calls is given a function")
}

// TestModelGroupGivesAtClose: functions that come while the executor closes are called, or Wait says that some were
// not.
func TestModelGroupGivesAtClose(t *testing.T) {
	refused := 0
	onDefault(t, []int{1}, func(n int, p string) {
		ex := start(n, p)
		g := NewGroup(ex)
		var all [3]calls
		g.Go(all[0].call)
		join := model.Go(func() { death(ex) })
		g.Go(all[1].call)
		g.Go(all[2].call)
		join()
		err := g.Wait()
		if errors.Is(err, ErrClosed) {
			refused++
			were(&all[0])
			model.Assert(all[2].get() == 0, "the last function is called although an earlier one was refused")
			return
		}
		model.Assert(err == nil, "Wait: %v", err)
		were(&all[0], &all[1], &all[2])
	})
	model.Reached(t, refused, "a function is refused")
}
