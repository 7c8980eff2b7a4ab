package executor

import (
	"iter"

	"github.com/magpie-go/magpie/executor/internal/spares"
	"github.com/magpie-go/magpie/internal/park"
	"github.com/magpie-go/magpie/internal/xatomic"
)

// A sleepKind is a way for a worker to be away from items: asleep, at rest, or in a function that blocks.
type sleepKind struct {
	state WorkerState // as others see it meanwhile
	able  bool        // the worker can be woken for any item

	// standIn and standDown tell the ledger of spares, one of which may stand in for the worker; nil: none may.
	standIn, standDown func(*spares.Ledger)

	apart bool // asleep does not count the worker out and in: its caller's feature does
}

var (
	// thiefSleep is of a worker that has found no work.
	thiefSleep = sleepKind{state: WorkerParked, able: true}
	// waitSleep is of a worker whose task waits. It is woken only for what it waits for.
	waitSleep = sleepKind{
		state: WorkerParked, standIn: (*spares.Ledger).Sleep, standDown: (*spares.Ledger).Wake,
	}
	// blockingSleep is of a worker in Blocking.
	blockingSleep = sleepKind{
		state: WorkerBlocked, standIn: (*spares.Ledger).Block, standDown: (*spares.Ledger).Unblock,
	}
	// standbySleep is of a spare that is not needed.
	standbySleep = sleepKind{state: WorkerStandby}
	// threadlessSleep is of a worker before its thread looks for work, and when the thread ends.
	threadlessSleep = sleepKind{state: WorkerThreadless}
)

// asleep calls park, in which the worker is away. A worker in Blocking that sleeps in a wait is counted out already.
func (w *Worker) asleep(k *sleepKind, park func()) {
	state := w.setState(k.state)
	counts := !k.apart && !w.waits.blocking
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

// countOut leaves the worker out of those that can run items. First a spare may be called up, which takes its place.
func (k *sleepKind) countOut(w *Worker) {
	if k.standIn != nil {
		k.standIn(&w.core.spares)
	}
	w.core.attached.tellAsleep(w, k.able)
}

// countIn undoes countOut.
func (k *sleepKind) countIn(w *Worker) {
	w.core.attached.awake.make(w)
	if k.standDown != nil {
		k.standDown(&w.core.spares)
	}
}

// setState stores the worker's state, and returns the one before.
func (w *Worker) setState(state WorkerState) (before WorkerState) {
	before = WorkerState(w.seen.state.Load())
	w.seen.state.Store(uint32(state))
	if state == WorkerRunning {
		w.core.attached.running.make(w) // after the state, see stalls.Watch
	}
	return before
}

// park calls sleep, in which the worker's thread sleeps. The caller has counted the sleep.
func (w *Worker) park(sleep func()) {
	w.core.attached.parked.make(w)
	sleep()
	w.core.attached.woken.make(w)
	w.counts.wakeups++
}

// A sleeper is where a worker sleeps in a wait: in help, in a Join, or for a future.
type sleeper struct {
	run    xatomic.Pointer[Run] // the run that the worker, asleep or about to be, helps
	from   xatomic.Uint64       // bits of the workers whose lanes may have items for the wait; 0: any worker's
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

// inject makes an item available through the injector and wakes a worker for it if there is no thief. Any thread.
func (ex *core) inject(it *Item) { ex.injectAll(it, nil) }

// injectAll makes several items of one run available through the injector: first, and the others if there are any. The
// policy is told once (document 000, Algorithm 1).
func (ex *core) injectAll(first *Item, others iter.Seq[*Item]) {
	run := first.Body.owner() // before the push: after it the run may end, and the body serve another
	n := ex.injector.pushAll(first, others)
	// D1(inject): as D1(push).
	ex.policy.Submitted(n)
	ex.attached.submitted.make()
	if ex.sleepingHelpers.Load() > 0 {
		ex.wakeHelpers(run, nil)
	}
}

// anyItem reports whether there was an item to take in the injector or a lane. It looks at one after the other: an item
// that appears meanwhile may be missed.
func (ex *core) anyItem() bool {
	if !ex.injector.isEmpty() {
		return true
	}
	for _, w := range ex.workers() {
		if w.lane.HushedBy() == 0 && w.lane.Ask() {
			return true
		}
	}
	return false
}

// anyoneAsleep is the cheap check before wakeFor. It is true, too, for a worker that was notified after its Prepare and
// has not called Commit or Cancel yet.
func (ex *core) anyoneAsleep() bool {
	return !ex.notifier.Idle() || ex.sleepingHelpers.Load() > 0
}

// wakeFor wakes a worker, and the helpers concerned, for items of r in w's lane, or of any run if r is nil.
func (w *Worker) wakeFor(r *Run) {
	w.core.policy.Shown()
	if w.core.sleepingHelpers.Load() > 0 {
		w.core.wakeHelpers(r, w)
	}
}

// wakeForPushed wakes a worker for what the item being run has pushed, unless a feature keeps quiet about it.
func (w *Worker) wakeForPushed() {
	if w.core.anyoneAsleep() && !w.core.attached.quiet.any(w) {
		w.wakeFor(w.body.owner())
	}
}

// wakeHelpers wakes the sleeping helpers that may run items of run pushed, or of any run if pushed is nil, in the lane
// of worker by, or anywhere if by is nil.
func (ex *core) wakeHelpers(pushed *Run, by *Worker) {
	for _, w := range ex.workers() {
		if from := w.sleeper.from.Load(); from != 0 && by != nil && from&by.bit() == 0 {
			continue
		}
		if r := w.sleeper.run.Load(); r != nil && (pushed == nil || pushed.isFor(r)) {
			w.sleeper.wake(w)
		}
	}
}

// wakeHelpersOf wakes the sleeping helpers that wait for the end of r.
func (ex *core) wakeHelpersOf(r *Run) {
	for _, w := range ex.workers() {
		if w.sleeper.run.Load() == r {
			w.sleeper.wake(w)
		}
	}
}
