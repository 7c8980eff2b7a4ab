//go:build modelcheck

package executor

import (
	"context"
	"fmt"
	"testing"

	"github.com/magpie-go/magpie/executor/internal/policy"
	"github.com/magpie-go/magpie/internal/model"
	"github.com/magpie-go/magpie/internal/xatomic"
)

// onEachReceiving runs a program under every policy that admits guests.
func onEachReceiving(t *testing.T, workers []int, program func(ex *Executor)) {
	for _, p := range Policies() {
		if !policy.Table[p].Guests {
			continue
		}
		for _, n := range workers {
			t.Run(fmt.Sprintf("%v/W=%d", p, n), func(t *testing.T) {
				model.Check(t, func() { program(receiving(Config{Workers: n, Policy: p, Callers: BriefCallers})) })
			})
		}
	}
}

// TestModelGuest: a guest runs an item that pushes another, while a second caller starts a run of its own. If no worker
// is left for it, the item of the second is in the injector when the guest leaves (D1(return)).
func TestModelGuest(t *testing.T) {
	onEachReceiving(t, []int{1, 2}, func(ex *Executor) {
		join := model.Go(func() { runJob(ex, func(*job, *Worker) {}) })
		runJob(ex, func(j *job, w *Worker) { j.push(w, nothing) })
		join()
		stop(ex)
	})
}

// TestModelGuestStarts: the item of a run that nobody waits for comes while the guest is there.
func TestModelGuestStarts(t *testing.T) {
	onEachReceiving(t, []int{1}, func(ex *Executor) {
		j := newJob(nothing)
		var r *Run
		join := model.Go(func() { r = ex.Start(context.Background(), j) })
		runJob(ex, func(*job, *Worker) {})
		join()
		j.ended(r.Wait())
		stop(ex)
	})
}

// TestModelGuestLeaves: a guest leaves before the end of a run of many items, and the worker's own thread goes on.
func TestModelGuestLeaves(t *testing.T) {
	onEachReceiving(t, []int{1, 2}, func(ex *Executor) {
		runJob(ex, func(j *job, w *Worker) {
			for range guestItems + 1 {
				j.push(w, nothing)
			}
		})
		stop(ex)
	})
}

// TestModelGuestClose: the executor is closed while the guest of its last run leaves (D1(stop)).
func TestModelGuestClose(t *testing.T) {
	onEachReceiving(t, []int{1, 2}, func(ex *Executor) {
		join := model.Go(func() { _ = ex.Run(context.Background(), newJob(nothing)) })
		death(ex)
		join()
	})
}

// TestModelGuestLetter: a broadcast comes while a guest has the worker (D5).
func TestModelGuestLetter(t *testing.T) {
	onEachReceiving(t, []int{1}, func(ex *Executor) {
		c := newRollCall(ex)
		join := model.Go(func() { runJob(ex, func(j *job, w *Worker) { j.push(w, nothing) }) })
		c.check(Broadcast(context.Background(), ex, c.fn))
		join()
		stop(ex)
	})
}

// TestModelGuestNested: a run that the guest's task has started goes on after the task's own.
func TestModelGuestNested(t *testing.T) {
	onEachReceiving(t, []int{1, 2}, func(ex *Executor) {
		inner := newJob(func(w *Worker) {})
		var r *Run
		runJob(ex, func(*job, *Worker) { r = ex.Start(context.Background(), inner) })
		inner.ended(r.Wait())
		stop(ex)
	})
}

// TestModelGuestBlocks: a guest's task waits in Blocking for an item that it has pushed. A spare stands in.
func TestModelGuestBlocks(t *testing.T) {
	model.Check(t, func() {
		ex := receiving(Config{Workers: 1, Spares: 1, Callers: BriefCallers})
		var done xatomic.Bool
		runJob(ex, func(j *job, w *Worker) {
			j.push(w, func(*Worker) { done.Store(true) })
			Blocking(func() { done.Await() })
		})
		stop(ex)
	})
}
