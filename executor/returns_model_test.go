//go:build modelcheck

package executor

import (
	"testing"

	"github.com/magpie-go/magpie/internal/model"
	"github.com/magpie-go/magpie/internal/xatomic"
)

// StopReturnClock is for tests that are no model programs: they do not run here.
func (ex *Executor) StopReturnClock() { panic("no clock goes off by itself") }

// nobodyBack is an expectation without callers, of a slot that is still to come.
const nobodyBack = 1 << slotShift

// onCrowded runs a program on an executor of two workers, whose callers had long runs before, beside both clocks of
// guests. The one of callers that are expected back finds, whenever it is set, that none has come.
func onCrowded(t *testing.T, program func(ex *Executor)) {
	model.Check(t, func() {
		ex := receiving(Config{Workers: 2, Callers: BusyCallers})
		e := &ex.guests.returns
		e.clock.runs = true
		e.word.Store(nobodyBack)
		var over xatomic.Bool
		join := model.Go(func() {
			for {
				e.clock.isSet.Await()
				e.clock.isSet.Store(false)
				if over.Load() {
					return
				}
				e.word.Store(nobodyBack)
				ex.noReturn()
			}
		})
		withClock(ex, func() { program(ex) })
		over.Store(true)
		e.clock.set()
		join()
		model.Assert(e.crowded.Load() == 0 && e.waiting.Load() == 0, "callers are left in the crowd")
		stop(ex)
	})
}

// waitsUnseen is the first item of a job that waits for another that it has pushed, in a way that the executor does not
// see.
func waitsUnseen(j *job, w *Worker) {
	var done xatomic.Bool
	j.push(w, func(*Worker) { done.Store(true) })
	done.Await()
}

// TestModelCrowd: a caller's item waits for one that lies in its lane, while another caller comes and leaves. The
// worker of the second one is woken for that: at once, or because the caller does not come back (D6(keep)).
func TestModelCrowd(t *testing.T) {
	onCrowded(t, func(ex *Executor) {
		join := model.Go(func() { runJob(ex, func(*job, *Worker) {}) })
		runJob(ex, waitsUnseen)
		join()
	})
}

// TestModelCrowdReturns: the same, but the second caller comes back at once.
func TestModelCrowdReturns(t *testing.T) {
	onCrowded(t, func(ex *Executor) {
		join := model.Go(func() {
			for range 2 {
				runJob(ex, func(*job, *Worker) {})
			}
		})
		runJob(ex, waitsUnseen)
		join()
	})
}

// TestModelCrowdWaits: one of three callers may find no place, and waits for threads.
func TestModelCrowdWaits(t *testing.T) {
	onCrowded(t, func(ex *Executor) {
		one := func() { runJob(ex, func(*job, *Worker) {}) }
		join, join2 := model.Go(one), model.Go(one)
		one()
		join()
		join2()
	})
}
