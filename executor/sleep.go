package executor

import (
	"github.com/magpie-go/magpie/internal/park"
	"github.com/magpie-go/magpie/internal/xatomic"
)

// A sleepKind is a way for a worker to be away from items: asleep, at rest, or in a function that blocks.
type sleepKind struct {
	state WorkerState // as others see it meanwhile

	// countOut and countIn account for the worker with the spares, one of which may stand in for it, and then with
	// those that share the machine: the spare takes the worker's place. They are nil if the worker's sharer does that.
	countOut, countIn func(*Worker)
}

var (
	// thiefSleep is of a worker that has found no work. It can be woken for any item, so no spare stands in for it.
	thiefSleep = sleepKind{
		WorkerParked,
		func(w *Worker) { w.share.countAsleep(true) },
		func(w *Worker) { w.share.countAwake() },
	}
	// waitSleep is of a worker whose task waits. It is woken only for what it waits for.
	waitSleep = sleepKind{
		WorkerParked,
		func(w *Worker) { w.core.spares.Sleep(); w.share.countAsleep(false) },
		func(w *Worker) { w.share.countAwake(); w.core.spares.Wake() },
	}
	// blockingSleep is of a worker in Blocking.
	blockingSleep = sleepKind{
		WorkerBlocked,
		func(w *Worker) { w.core.spares.Block(); w.share.countAsleep(false) },
		func(w *Worker) { w.share.countAwake(); w.core.spares.Unblock() },
	}
	// standbySleep is of a spare that is not needed.
	standbySleep = sleepKind{
		WorkerStandby,
		func(w *Worker) { w.share.countAsleep(false) },
		func(w *Worker) { w.share.countAwake() },
	}
	// restSleep is of a worker that has given its processor up to others that share the machine.
	restSleep = sleepKind{state: WorkerResting}
)

// asleep calls park, in which the worker is away. A worker in Blocking that sleeps in a wait is counted out already.
func (w *Worker) asleep(k *sleepKind, park func()) {
	state := w.setState(k.state)
	counts := k.countOut != nil && !w.blocking
	if counts {
		k.countOut(w)
	}
	defer func() { // deferred: a function that blocks may panic
		if counts {
			k.countIn(w)
		}
		w.setState(state)
	}()
	park()
}

// setState stores the worker's state, and returns the one before.
func (w *Worker) setState(state WorkerState) (before WorkerState) {
	before = WorkerState(w.state.Load())
	w.state.Store(uint32(state))
	if state == WorkerRunning {
		w.core.silence.watch.Wake() // after the state, see stalls.Watch
	}
	return before
}

// park calls sleep, in which the worker's thread sleeps, and counts it.
func (w *Worker) park(sleep func()) {
	w.counts.parks++
	w.publishCounts()
	w.core.observers.park(w.id)
	sleep()
	w.core.observers.unpark(w.id)
	w.counts.wakeups++
}

// A sleeper is where a worker sleeps in a wait: in help, in a Join, or for a future.
type sleeper struct {
	run    xatomic.Pointer[Run] // the run that the worker, asleep or about to be, helps
	waits  xatomic.Tell32       // 1: the worker is asleep, or about to be
	parker park.Parker
}

// sleepInWait sleeps until the worker's sleeper is woken.
func (w *Worker) sleepInWait() {
	w.asleep(&waitSleep, func() {
		w.sleeper.waits.Store(1)
		w.rest()
		w.sleeper.waits.Store(0)
	})
}

// sleep sleeps until wake is called. If wake was called before, it returns at once.
func (s *sleeper) sleep(w *Worker) {
	if w.inline == nil {
		s.parker.Park()
		return
	}
	w.inline.sleep()
}

// wake ends the sleep of w, the worker of s, or the next one if w is awake. Any thread.
func (s *sleeper) wake(w *Worker) {
	if w.inline == nil {
		s.parker.Unpark()
		return
	}
	w.inline.wake()
}
