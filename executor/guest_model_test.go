//go:build modelcheck

package executor

import (
	"context"
	"fmt"
	"testing"

	"github.com/magpie-go/magpie/executor/experiment"
	"github.com/magpie-go/magpie/executor/internal/policy"
	"github.com/magpie-go/magpie/internal/model"
	"github.com/magpie-go/magpie/internal/xatomic"
)

// onEachReceiving runs a program under every policy that admits guests. They leave after a few items.
func onEachReceiving(t *testing.T, workers []int, program func(ex *Executor)) {
	onEachWith(t, BriefCallers, workers, program)
}

// onEachWith is onEachReceiving with such callers.
func onEachWith(t *testing.T, callers Callers, workers []int, program func(ex *Executor)) {
	for i, p := range experiment.Policies() {
		if !policy.Table[i].Guests {
			continue
		}
		for _, n := range workers {
			t.Run(fmt.Sprintf("%v/W=%d", p, n), func(t *testing.T) {
				model.Check(t, func() {
					program(receiving(Config{Workers: n, Experiment: experiment.Options{Policy: p}, Callers: callers}))
				})
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

// TestModelGuestChooses: a guest borrows both workers and returns one. Meanwhile a run comes that the guest's task
// waits for, in a way that the executor does not see. The worker that is returned runs it (D1(return)).
func TestModelGuestChooses(t *testing.T) {
	onEachReceiving(t, []int{2}, func(ex *Executor) {
		var done xatomic.Bool
		other := newJob(func(*Worker) { done.Store(true) })
		var r *Run
		join := model.Go(func() { r = ex.Start(context.Background(), other) })
		runJob(ex, func(*job, *Worker) { done.Await() })
		join()
		other.ended(r.Wait())
		stop(ex)
	})
}

// TestModelGuestReturnsSeveral: a guest borrows the three workers that sleep, and returns two. Meanwhile the task of
// another guest pushes two items, and all four items have to be there at once (D1(return)).
func TestModelGuestReturnsSeveral(t *testing.T) {
	onEachWith(t, BusyCallers, []int{4}, func(ex *Executor) {
		b := &barrier{n: 4}
		var came, goOn xatomic.Bool
		join := model.Go(func() {
			runJob(ex, func(j *job, w *Worker) {
				came.Store(true)
				goOn.Await()
				j.push(w, b.meet)
				j.push(w, b.meet)
				b.meet(w)
			})
		})
		model.Calm(came.Await)
		goOn.Store(true)
		runJob(ex, func(_ *job, w *Worker) { b.meet(w) })
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

// TestModelGuestStays: a guest stays for a run of many items, while a run that nobody waits for comes.
func TestModelGuestStays(t *testing.T) {
	onEachWith(t, BusyCallers, []int{1, 2}, func(ex *Executor) {
		other := newJob(nothing)
		var r *Run
		join := model.Go(func() { r = ex.Start(context.Background(), other) })
		runJob(ex, pushes(guestItems+1))
		join()
		model.Calm(func() { ex.block(r) })
		other.ended(r.Wait())
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

// TestModelWaiter: a caller starts a run and waits for it, while another thread starts a run that nobody waits for. The
// wake-up that the waiter takes back may have been that for the other run (PassOn, D1(return)).
func TestModelWaiter(t *testing.T) {
	onEachReceiving(t, []int{1, 2}, func(ex *Executor) {
		other := newJob(nothing)
		var r *Run
		join := model.Go(func() { r = ex.Start(context.Background(), other) })
		j := newJob(nothing)
		j.ended(ex.Start(context.Background(), j).Wait())
		join()
		model.Calm(func() { ex.block(r) })
		other.ended(r.Wait())
		stop(ex)
	})
}

// TestModelWaiters: two callers wait for one run, whose items may be with either, or with the worker's own thread.
func TestModelWaiters(t *testing.T) {
	onEachReceiving(t, []int{1, 2}, func(ex *Executor) {
		j := newJob(nil)
		j.first = func(w *Worker) { j.push(w, nothing) }
		r := ex.Start(context.Background(), j)
		join := model.Go(func() { _ = r.Wait() })
		j.ended(r.Wait())
		join()
		stop(ex)
	})
}

// TestModelWaiterFuture: a caller waits for its future, while another thread has started one that nobody waits for. The
// caller does not call the other function, not even if that is the only one submitted.
func TestModelWaiterFuture(t *testing.T) {
	onEachReceiving(t, []int{1, 2}, func(ex *Executor) {
		var calls [2]tally
		other := func(ctx context.Context) (int, error) {
			model.Assert(guestOf(workerHere()).run == nil, "a waiter calls a function that it does not wait for")
			return countedCall(&calls[0])(ctx)
		}
		join := model.Go(func() { Async(context.Background(), ex, other) })
		isSeven(Async(context.Background(), ex, countedCall(&calls[1])))
		join()
		death(ex)
		model.Assert(calls[0].get() == 1 && calls[1].get() == 1, "called %v", calls)
	})
}

// TestModelWaiterClose: the executor is closed while a waiter takes back a wake-up, which may be that of the stop.
func TestModelWaiterClose(t *testing.T) {
	onEachReceiving(t, []int{1, 2}, func(ex *Executor) {
		r := ex.Start(context.Background(), newJob(nothing))
		join := model.Go(func() { _ = r.Wait() })
		death(ex)
		join()
	})
}
