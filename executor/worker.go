package executor

import (
	"context"
	"runtime/debug"

	"github.com/magpie-go/magpie/deque"
	"github.com/magpie-go/magpie/executor/internal/enum"
	"github.com/magpie-go/magpie/executor/internal/lane"
	"github.com/magpie-go/magpie/executor/internal/policy"
	"github.com/magpie-go/magpie/internal/pad"
	"github.com/magpie-go/magpie/internal/xatomic"
)

// A Worker runs items on an OS thread of its own. An item gets the worker that runs it. Unless a method says otherwise,
// it is for the item being run only.
type Worker struct {
	_ pad.Line

	// Constant.
	core   *core
	id     int
	inline *inline // set if there is no thread
	_      pad.Line

	lane lane.Lane[Item] // the worker's items

	// Owner only, plain on purpose: the race detector checks the claim.
	body   *Body     // of the item being run; nil when the worker has none
	inner  innerLoop // the inner loop, and the item being run
	counts counts    // beside body: both are used for each item
	waits  waits     // on the worker's stack
	search search    // for work
	labels labels
	_      pad.Line

	// Shared.
	seen    seen    // what others see of the worker
	thread  thread  // the worker's OS thread
	sleeper sleeper // where the worker sleeps in a wait
	spare   spare   // where the worker sleeps, if it is a spare
	_       pad.Line
}

// waits describes the waits (help, Join, Wait) on the worker's stack. Owner only, plain.
type waits struct {
	run    *Run   // the run that the innermost wait is for; nil outside waits
	mark   uint64 // the mark of the lane below which there is no item for the innermost wait, or noMark
	only   *Body  // if set, the innermost wait runs items of this body only
	helps  int    // the number of waits in help
	nested int    // the number of waits for children and futures, and of calls that are not joined

	blocking bool // the item being run is in Blocking
}

// Index returns the worker's index, from 0 to WorkersAndSpares-1 of a [JobRun]. Of two items under one index at a time,
// one waits for the other. Any thread.
func (w *Worker) Index() int { return w.id }

// run returns the run of the item being run; nil if w is nil.
func (w *Worker) run() *Run {
	if w == nil {
		return nil
	}
	w.mustBeInTask()
	return w.body.owner()
}

// bit returns the worker's bit in sets of workers. Several workers may share one.
func (w *Worker) bit() uint64 { return 1 << (w.id % 64) }

// Push makes an item available to every worker. Unless another one takes it, the pushing worker gets it back, last in
// first out. The item being run only.
func (w *Worker) Push(it *Item) {
	if !w.lane.IsDirect() {
		if w.lane.PushSolo(it) {
			return
		}
		if near := w.lane.Near(); near.MayPush() {
			near.Push(it)
			w.lane.Pushed++
		} else {
			w.pushAside(it)
		}
		return
	}
	w.lane.PushDirect(it)
	// D1(push): put the item into the lane, then look for a thief. Pairs with D1(park) in the policies and D1(await): a
	// thief and a helper announce that they stop looking, then look once more. The condition is that of anyoneAsleep,
	// which is not inlined.
	if w.search.thieves.Load() == 0 && (!w.core.notifier.Idle() || w.core.sleepingHelpers.Load() > 0) {
		w.wakeForPushed()
	}
}

// pushAside pushes an item to a lane that is not direct.
func (w *Worker) pushAside(it *Item) {
	if effect := w.lane.PushPlain(it); effect == deque.Nothing {
		w.lane.Pushed++
	} else {
		w.pushTold(it, effect)
	}
}

// pushTold ends a push for which PushPlain has returned an effect other than Nothing.
func (w *Worker) pushTold(it *Item, effect deque.Effect) {
	if effect != deque.Refused {
		w.lane.Pushed++
		w.tell(w.lane.Told(effect))
		return
	}
	switch effect = w.lane.PushAside(it); effect {
	case deque.Nothing:
	case deque.Refused:
		w.core.inject(it)
	default:
		w.tell(effect)
	}
}

// inject gives an item away that was in the worker's lane, or was to run next. A spare may take it while the worker has
// others of its run.
func (w *Worker) inject(it *Item) {
	if w.core.attached.sharesLanes {
		w.shareLane()
	}
	w.core.inject(it)
}

// put adds an item to the worker's lane or, if the lane refuses it, to the injector. The caller tells the effect.
func (w *Worker) put(it *Item) deque.Effect {
	effect := w.lane.Push(it)
	if effect == deque.Refused {
		w.core.inject(it)
		return deque.Nothing
	}
	return effect
}

// exploit runs item it and everything that follows from it on this worker (document 000, Algorithm 3, lines 5 to 12).
func (w *Worker) exploit(it *Item) {
	for ; it != nil; it = w.pop() { // leaving a body, or a failure, may push an item
		w.inner.run(w, it)
		w.enter(nil)
	}
}

// pop takes the item that the worker pushed last, among those that it may run here. If there is none, a worker that is
// in no wait takes one from the injector, if the policy refills: as a thief it would look there first anyhow, but only
// after it had left its run. A surplus spare does not: it would take back what it has just handed over.
func (w *Worker) pop() *Item {
	if w.waits.run != nil {
		return w.popFor(w.waits.run)
	}
	var it *Item
	if w.lane.IsDirect() { // popOwn, without its call
		it = w.lane.PopDirect()
	} else if it = w.lane.PopSolo(); it == nil {
		if near := w.lane.Near(); near.MayPop() {
			it = near.Pop()
			w.lane.Popped++
		} else {
			it = w.popAside()
		}
	}
	if it == nil {
		it = w.search.popElsewhere()
	}
	return it
}

// popOwn takes the item that the worker pushed last.
func (w *Worker) popOwn() (it *Item) {
	if w.lane.IsDirect() {
		it = w.lane.PopDirect()
	} else if it = w.lane.PopSolo(); it == nil {
		it = w.popAside()
	}
	return it
}

// popAside takes the item that the worker pushed last from a lane that is not direct.
func (w *Worker) popAside() *Item {
	it, effect := w.lane.PopPlain()
	if it != nil && effect == deque.Nothing {
		w.lane.Popped++
		return it
	}
	return w.popTold(it, effect)
}

// popTold ends a pop for which PopPlain has returned an effect, or no item.
func (w *Worker) popTold(it *Item, effect deque.Effect) *Item {
	if effect != deque.Nothing {
		w.tell(w.lane.Told(effect))
	}
	if it != nil {
		w.lane.Popped++
		return it
	}
	it, effect = w.lane.PopAside(w.waits.limit())
	if effect != deque.Nothing {
		w.tell(effect)
	}
	return it
}

// checkpoint is called every pollInterval items by a busy worker that is about to run item it, and has entered its
// body. It returns the item to run, perhaps one of another run, and has entered the body of that. It returns nil if the
// run that a helper waits for is over, or if the worker is a surplus spare.
func (w *Worker) checkpoint(it *Item) *Item {
	w.publishAtCheckpoint()
	if r := w.waits.run; r != nil {
		if r.over.Load() {
			w.putBack(it) // its run was nested in r and goes on after it
			return nil
		}
		return it
	}
	if w.spare.isSurplus() {
		w.spare.handOver(it)
		return nil
	}
	if w.core.verbatim {
		return it // only thieves look at the injector
	}
	if w.core.injector.isPlain() && w.core.injector.isEmpty() {
		return it
	}
	newcomer := w.search.newcomer(it.Body.level())
	if newcomer != nil && newcomer.Body != w.body {
		newcomer = w.core.attached.admit(w, newcomer)
	}
	if newcomer == nil {
		return it
	}
	// What the layer above has held back must not wait for the newcomer, which may take long.
	w.body.hooks.Flush(w)
	// The item goes to the end of the injector, not to the lane: the newcomer may be endless too, and the worker would
	// never come back to the item.
	w.inject(it)
	if newcomer.Body != w.body {
		w.enter(newcomer.Body)
	}
	return newcomer
}

func (w *Worker) publishAtCheckpoint() {
	if w.counts.items%flushInterval == 0 {
		w.publishCountsBefore()
		w.body.hooks.Flush(w)
	} else if w.seen.asked.Load() != 0 {
		w.seen.asked.Store(0)
		w.publishCountsBefore()
	}
}

// putBack puts an item that was counted but not run into the injector. The worker that runs it counts it again.
func (w *Worker) putBack(it *Item) {
	w.inject(it)
	w.counts.overhead++
}

// enter begins the worker's work on items of b, or ends all work if b is nil. The goroutine then has the labels of b's
// run, or the worker's own. enter publishes the worker's counts before the run of the old body can finish, so that the
// statistics are complete when a run has ended.
func (w *Worker) enter(b *Body) {
	if b == nil {
		w.switchTo(nil, w.labels.own)
		return
	}
	w.switchTo(b, w.labelsFor(b.owner().ctx.labels))
}

// switchTo ends the worker's work on items of its body, and begins that on items of b, or on none if b is nil. The
// goroutine has the given labels afterwards.
func (w *Worker) switchTo(b *Body, labels context.Context) {
	old := w.body
	bounded := old.isBounded() || b.isBounded() // now: Leave may end the run of old
	if old != nil {
		w.publishCounts()
		old.hooks.Leave(w)
	}
	if b != nil {
		if w.lane.IsAlone() && w.core.attached.sharesLanes && !w.staysAlone(b) {
			w.shareLane()
		}
		b.owner().visit(w)
		b.hooks.Enter(w)
	}
	w.body = b
	if p := int32(b.level()); p != w.seen.level.Load() {
		w.seen.level.Store(p)
	}
	if bounded {
		w.core.attached.tellTurned(w, b)
	}
	if old != nil || labels != w.labels.set { // tasks of old may have set labels of their own
		w.setLabels(labels)
	}
}

// failed handles an item whose Exec did not return: it panicked with value or, if value is nil, called Goexit. The item
// that Hooks.Fail returns goes to the lane, because the inner loop does not return after Goexit, even if a deferred
// function panics meanwhile.
func (w *Worker) failed(it *Item, value any) {
	defer w.enter(nil) // also if Fail ends by Goexit
	err := error(ErrGoexit)
	if value != nil {
		if err = w.core.attached.failure(w, value); err == nil {
			err = &PanicError{Value: value, Stack: debug.Stack()}
		}
	}
	if next := w.body.hooks.Fail(w, it, err); next != nil {
		w.Push(next)
	}
}

// enterAdmitted enters the body of item it and returns the item. If a feature keeps the worker from that, the feature
// has taken the item, and enterAdmitted returns nil.
func (w *Worker) enterAdmitted(it *Item) *Item {
	if it = w.core.attached.admit(w, it); it != nil {
		w.enter(it.Body)
	}
	return it
}

// mustBeInTask panics if the caller is on worker w, but in none of its tasks: in a hook of its thread.
func (w *Worker) mustBeInTask() {
	if w != nil && w.body == nil {
		panic("executor: Threads.Start, Threads.End or an Observer starts, or waits for, work " +
			"of its executor")
	}
}

// init makes w worker i of ex. It has no thread yet.
func (w *Worker) init(ex *core, i int) {
	w.core, w.id, w.inline = ex, i, ex.inline
	w.thread.w, w.spare.w = w, w
	w.search = search{
		w: w, thieves: ex.policy.Thieves(), refills: ex.policy.Refills() && !ex.verbatim,
		rng: uint64(i+1) * 0x9E3779B97F4A7C15,
	}
	if ex.inline != nil {
		w.lane.InitShuffled(ex.inline.seed)
	} else {
		ex.lanes.Init(&w.lane, i, ex.alone && i == 0)
	}
	w.inner = loopFor(w)
	host := policy.Host(thiefHost{w})
	if ex.attached.host != nil {
		host = ex.attached.host(w, host)
	}
	w.search.thief = ex.policy.Attach(host)
	if w.isSpare() {
		w.setState(WorkerThreadless)
	}
}

// WorkerState is what a worker does at the moment, as [Executor.Dump] and [Gauges] tell it. A state may be over when it
// is read. New states may be added.
type WorkerState uint8

const (
	WorkerRunning    WorkerState = iota // it runs a task, or looks for work while its task waits
	WorkerSearching                     // it looks for work
	WorkerPreparing                     // it looks a last time before it sleeps
	WorkerParked                        // it sleeps: there is no work, or its task waits for other work
	WorkerBlocked                       // its task is in [Blocking]
	WorkerStandby                       // it is a spare that is not needed, and its thread is kept
	WorkerResting                       // it rests because of [host.Options].Share
	WorkerThreadless                    // a spare that is not needed; any after Close
)

var workerStateNames = [...]string{
	"running", "searching", "preparing", "parked", "blocked", "standing by", "resting", "without a thread",
}

// String returns the state as [Executor.Dump] writes it: "running", say.
func (s WorkerState) String() string { return enum.Name(s, "WorkerState", workerStateNames[:]) }

// counts are a worker's own counters.
type counts struct {
	items    uint64 // and numbers that were passed over, see pollAgain
	overhead uint64 // items that are not tasks, and those numbers
	tried    uint64
	won      uint64
	lost     uint64
	parks    uint64
	wakeups  uint64
}

// seen is what other threads see of a worker.
type seen struct {
	state xatomic.Tell32 // a WorkerState
	level xatomic.Int32  // the priority of the worker's body, for those that look for a more urgent run

	// A copy of the worker's counts, made by publishCounts.
	tasks, pops, tried, won, lost, parks, wakeups xatomic.Tell64

	asked xatomic.Tell32 // 1: Stats has been called since the worker's last checkpoint
}

// publishCounts publishes the worker's counts. Owner only.
func (w *Worker) publishCounts() {
	p, c := &w.seen, &w.counts
	set := func(to *xatomic.Tell64, v uint64) {
		if to.Load() != v { // a load is cheap, a store is not
			to.Store(v)
		}
	}
	set(&p.tasks, c.items-c.overhead)
	set(&p.pops, w.lane.Popped)
	set(&p.tried, c.tried)
	set(&p.won, c.won)
	set(&p.lost, c.lost)
	set(&p.parks, c.parks)
	set(&p.wakeups, c.wakeups)
	w.core.attached.published.make(w)
}

// publishCountsBefore publishes the counts of a worker without its next item, which it has counted. The item may turn
// out to be no task, see JobRun.Uncount, and counters never decrease.
func (w *Worker) publishCountsBefore() {
	w.counts.items--
	w.publishCounts()
	w.counts.items++
}
