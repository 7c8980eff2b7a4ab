//go:build modelcheck

package executor

import (
	"context"
	"testing"

	"github.com/magpie-go/magpie/internal/model"
	"github.com/magpie-go/magpie/internal/xatomic"
)

// onEachWithholding explores a program whose groups withhold their functions, beside the clock.
func onEachWithholding(t *testing.T, workers []int, program func(ex *Executor)) {
	onEachReceiving(t, workers, func(ex *Executor) {
		withClock(ex, func() {
			ex.HushGroups()
			program(ex)
		})
		stop(ex)
		model.Assert(ex.Withheld() == 0, "an inbox is still withheld")
	})
}

// TestModelGroupWithholds: a caller gives functions and waits, while the clock ticks.
func TestModelGroupWithholds(t *testing.T) {
	withheld, shown := 0, 0
	onEachWithholding(t, []int{1, 2}, func(ex *Executor) {
		var a, b calls
		g := NewGroup(ex)
		g.Go(a.call)
		if withheld += ex.Withheld(); ex.Withheld() == 0 {
			shown++
		}
		g.Go(b.call)
		waited(g)
		were(&a, &b)
	})
	model.Reached(t, withheld, "a function is withheld")
	model.Reached(t, shown, "the clock shows a function")
}

// TestModelGroupWithheldLate: the caller waits for its function in a way that the executor does not see. The clock
// shows it (D6). Then the group has functions of which no worker is told too late.
func TestModelGroupWithheldLate(t *testing.T) {
	onEachWithholding(t, []int{1, 2}, func(ex *Executor) {
		g := NewGroup(ex)
		for range 2 {
			var done xatomic.Bool
			g.Go(func() error { done.Store(true); return nil })
			done.Await()
		}
		waited(g)
	})
}

// TestModelGroupWithheldWaiter: another thread waits for the group while the first function comes (D1(withhold),
// D1(release)), and no clock ticks.
func TestModelGroupWithheldWaiter(t *testing.T) {
	onEachReceiving(t, []int{1, 2}, func(ex *Executor) {
		ex.HushGroups()
		var a calls
		g, _ := GroupWithContext(context.Background(), ex)
		join := model.Go(func() { waited(g) })
		g.Go(a.call)
		join()
		waited(g) // the function may be of another run of the group
		were(&a)
		stop(ex)
	})
}

// TestModelGroupWithheldTwice: two threads give functions to groups of one site, and wait. One of the groups may find
// that the other withholds its functions there.
func TestModelGroupWithheldTwice(t *testing.T) {
	onEachWithholding(t, []int{1}, func(ex *Executor) {
		var a, b calls
		use := func(c *calls) {
			g := NewGroup(ex)
			g.Go(c.call)
			waited(g)
		}
		join := model.Go(func() { use(&a) })
		use(&b)
		join()
		were(&a, &b)
	})
}

// TestModelGroupWithheldShared: two threads give functions to one group, and both wait.
func TestModelGroupWithheldShared(t *testing.T) {
	onEachReceiving(t, []int{1}, func(ex *Executor) {
		ex.HushGroups()
		var a, b calls
		g := NewGroup(ex)
		join := model.Go(func() {
			g.Go(a.call)
			waited(g)
		})
		g.Go(b.call)
		waited(g)
		join()
		were(&a, &b)
		stop(ex)
	})
}

// TestModelGroupWithheldClose: the executor closes while a function is withheld, and nobody waits for the group. No
// clock ticks.
func TestModelGroupWithheldClose(t *testing.T) {
	onEachReceiving(t, []int{1}, func(ex *Executor) {
		ex.HushGroups()
		var a calls
		g := NewGroup(ex)
		join := model.Go(func() { death(ex) })
		g.Go(a.call)
		join()
		if err := g.Wait(); err == nil {
			were(&a)
		}
	})
}

// TestModelGroupShowsMany: one thread gives the first function, and another more than a batch. Then no inbox is
// withheld, though no clock ticks (D1(withhold), D1(batch)).
func TestModelGroupShowsMany(t *testing.T) {
	onEachReceiving(t, []int{1}, func(ex *Executor) {
		ex.HushGroups()
		g := NewGroup(ex)
		nothing := func() error { return nil }
		join := model.Go(func() { g.Go(nothing) })
		for range maxBatch + 1 {
			g.Go(nothing)
		}
		join()
		model.Assert(!g.full.Load() || ex.Withheld() == 0, "an inbox of two batches is withheld")
		waited(g)
		stop(ex)
	})
}
