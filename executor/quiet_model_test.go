//go:build modelcheck

package executor

import (
	"context"
	"testing"

	"github.com/magpie-go/magpie/internal/model"
	"github.com/magpie-go/magpie/internal/xatomic"
)

// runQuietly is runJob for a guest that is quiet.
func runQuietly(ex *Executor, first func(*job, *Worker)) {
	j := newJob(nil)
	j.Hush()
	j.run(ex, first)
}

// withClock runs a program beside the clock of ex, which ticks whenever it is set. The program knows no other clock.
func withClock(ex *Executor, program func()) {
	var over xatomic.Bool
	clock := &ex.guests.quiets.clock
	join := model.Go(func() {
		for {
			clock.isSet.Await()
			clock.isSet.Store(false)
			if over.Load() {
				return
			}
			for ex.tick() {
			}
		}
	})
	program()
	over.Store(true)
	clock.isSet.Store(true)
	join()
}

// TestModelQuietGuest: a quiet guest runs what it has pushed, while a run that nobody waits for comes.
func TestModelQuietGuest(t *testing.T) {
	onEachReceiving(t, []int{2}, func(ex *Executor) {
		j := newJob(nothing)
		var r *Run
		join := model.Go(func() { r = ex.Start(context.Background(), j) })
		runQuietly(ex, pushes(2))
		join()
		model.Calm(func() { ex.block(r) })
		j.ended(r.Wait())
		stop(ex)
	})
}

// TestModelQuietGuestWaits: an item of a quiet guest waits for another that it has pushed, in a way that the executor
// does not see. The clock finds the other item (D6, D1(tick)). Then it waits for a third, when the clock may be idle.
func TestModelQuietGuestWaits(t *testing.T) {
	onEachReceiving(t, []int{2}, func(ex *Executor) {
		withClock(ex, func() {
			runQuietly(ex, func(j *job, w *Worker) {
				for range 2 {
					var done xatomic.Bool
					j.push(w, func(*Worker) { done.Store(true) })
					done.Await()
				}
			})
		})
		stop(ex)
	})
}

// TestModelQuietGuestSpeaks: the same, but the clock ticks no more after the first wait: it has woken a worker in the
// guest's place, and so the guest wakes one itself.
func TestModelQuietGuestSpeaks(t *testing.T) {
	onEachReceiving(t, []int{2}, func(ex *Executor) {
		var told xatomic.Bool
		clock := &ex.guests.quiets.clock
		join := model.Go(func() {
			clock.isSet.Await()
			for !told.Load() {
				ex.tick()
				model.Spin()
			}
		})
		runQuietly(ex, func(j *job, w *Worker) {
			for range 2 {
				var done xatomic.Bool
				j.push(w, func(*Worker) { done.Store(true) })
				done.Await()
				told.Store(true)
			}
		})
		join()
		stop(ex)
	})
}

// TestModelQuietGuests: two quiet guests wait at a time, each for an item of its own.
func TestModelQuietGuests(t *testing.T) {
	model.Check(t, func() {
		ex := receiving(Config{Workers: 3, Callers: BriefCallers})
		withClock(ex, func() {
			waits := func(j *job, w *Worker) {
				var done xatomic.Bool
				j.push(w, func(*Worker) { done.Store(true) })
				done.Await()
			}
			join := model.Go(func() { runQuietly(ex, waits) })
			runQuietly(ex, waits)
			join()
		})
		stop(ex)
	})
}

// TestModelQuietGuestBlocks: a quiet guest waits in Blocking, and no clock ticks.
func TestModelQuietGuestBlocks(t *testing.T) {
	model.Check(t, func() {
		ex := receiving(Config{Workers: 2, Spares: -1, Callers: BriefCallers})
		var done xatomic.Bool
		runQuietly(ex, func(j *job, w *Worker) {
			j.push(w, func(*Worker) { done.Store(true) })
			Blocking(func() { done.Await() })
		})
		stop(ex)
	})
}

// TestModelQuietGuestHelps: a quiet guest waits for a nested run, whose item waits for one that the guest has pushed.
func TestModelQuietGuestHelps(t *testing.T) {
	onEachReceiving(t, []int{2}, func(ex *Executor) {
		runQuietly(ex, func(j *job, w *Worker) {
			var done xatomic.Bool
			j.push(w, func(*Worker) { done.Store(true) })
			runJob(ex, func(*job, *Worker) { done.Await() })
		})
		stop(ex)
	})
}

// TestModelQuietGuestLeaves: a quiet guest leaves before the end of its run.
func TestModelQuietGuestLeaves(t *testing.T) {
	onEachReceiving(t, []int{2}, func(ex *Executor) {
		runQuietly(ex, pushes(guestItems+1))
		stop(ex)
	})
}

// TestModelQuietGuestStays: a quiet guest stays longer than runs with quiet guests are. Then one of its items waits for
// another that it has pushed, in a way that the executor does not see, and no clock ticks.
func TestModelQuietGuestStays(t *testing.T) {
	onEachWith(t, BusyCallers, []int{2}, func(ex *Executor) {
		runQuietly(ex, func(j *job, w *Worker) {
			var done xatomic.Bool
			j.push(w, func(*Worker) { done.Store(true) })
			j.push(w, func(*Worker) { done.Await() })
			pushes(guestItems)(j, w) // run first
		})
		stop(ex)
	})
}
