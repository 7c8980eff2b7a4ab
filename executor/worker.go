package executor

import (
	"context"
	"runtime/debug"

	"github.com/magpie-go/magpie/deque"
	"github.com/magpie-go/magpie/executor/internal/lane"
	"github.com/magpie-go/magpie/executor/internal/policy"
	"github.com/magpie-go/magpie/internal/pad"
	"github.com/magpie-go/magpie/internal/park"
	"github.com/magpie-go/magpie/internal/xatomic"
)

// A Worker runs items on an OS thread of its own. An item gets the worker that runs it; unless they say otherwise, the
// methods are for the item being run only.
type Worker struct {
	_ pad.Line

	// Constant.
	ex       *Executor
	core     *core // ex.core, a load less
	id       int
	spare    bool                 // it stands in for workers that block
	runItems func(*Worker, *Item) // the inner loop, see loops.go
	thief    policy.Thief         // decides when the worker looks for work and sleeps
	thieves  *xatomic.Int32       // the policy's word: while it is not 0, items that are shown wake nobody
	refills  bool                 // the policy's: a worker without items looks at the injector before it becomes a thief
	inline   *inline              // set if there is no thread
	_        pad.Line

	lane lane.Lane[Item] // has the worker's items

	// Owner only, plain on purpose: the race detector checks the claim.
	body     *Body  // of the item being run; nil when the worker has none
	counts   counts // beside body: both are used for each item
	forks    forks
	waits    waits // waits inside tasks, on the worker's stack
	found    *Item // by the thief
	losses   uint32
	rng      uint64
	futures  int64 // futures ended, not yet counted out
	blocking bool  // the item being run is in Blocking
	labels   labels
	_        pad.Line

	// Shared.
	state    xatomic.Tell32 // a workerState, for dumps
	thread   threadOf       // the worker's OS thread
	seen     published      // counts, as of the last publication
	sleeper  sleeper        // what the worker, asleep in a wait, waits for
	leaps    leaps          // what leapfroggers read
	calledUp park.Parker    // where a spare stands by

	discharged bool // a spare's thread is to end; plain, written before calledUp.Unpark
	_          pad.Line
}

// waits is what a worker knows of the waits on its stack: of those of help, Join and Wait. Owner only, plain.
type waits struct {
	run    *Run   // the innermost waits for it; nil outside waits
	mark   uint64 // the lane's mark below which there is nothing for that one, or noMark
	only   *Body  // if set, only items of it may be run
	helps  int    // how many are of help
	nested int    // how many are of children and futures
}

// threadOf says which OS thread a worker has. Its worker writes it.
type threadOf struct {
	id   xatomic.Int64 // as the kernel names it; 0 while there is none
	self xatomic.Int64 // as osthread.Self does
}

// workerState is where a worker stands, as dumps tell it.
type workerState uint32

const (
	running workerState = iota
	searching
	preparing
	parked
	blocked
	standingBy
	threadless
)

func (s workerState) String() string {
	return [...]string{"running", "searching", "preparing", "parked", "blocked", "standing by", "without a thread"}[s]
}

// ID is the worker's index, from 0 to [JobRun.Workers]-1. No two items run under one ID at a time, save that one waits
// in a nested run for the other. Any thread.
func (w *Worker) ID() int { return w.id }

// run is that of the item being run; nil for no worker.
func (w *Worker) run() *Run {
	if w == nil {
		return nil
	}
	return w.body.owner()
}

// bit is the worker's in sets of workers. Several may share one.
func (w *Worker) bit() uint64 { return 1 << (w.id % 64) }

// Executor is the worker's. Any thread.
func (w *Worker) Executor() *Executor {
	if ex := w.core.public.Value(); ex != nil {
		return ex
	}
	return w.ex // of an inline executor, or one to which nothing else refers
}

// Push makes an item available to every worker. The pushing worker gets it back, last in first out, unless another
// takes it. The item being run only.
func (w *Worker) Push(it *Item) {
	if !w.lane.IsDirect() {
		w.pushAside(it)
		return
	}
	w.lane.PushDirect(it)
	// D1(push): the item is in the lane, then look for somebody who will look there. Pairs with D1(park) in the
	// policies and D1(help): those announce that they stop looking, then look once more.
	if w.thieves.Load() == 0 && w.core.anyoneAsleep() {
		w.wakeForPushed()
	}
}

// uncount leaves the item being run out of the tasks in [Stats].
func (w *Worker) uncount() { w.counts.overhead++ }

// pushAside is Push for a lane that is not direct.
func (w *Worker) pushAside(it *Item) { w.tell(w.put(it)) }

// put adds an item to the worker's lane or, if that has no room, to the injector. The caller tells others of the effect.
func (w *Worker) put(it *Item) deque.Effect {
	effect := w.lane.Push(it)
	if effect == deque.Refused {
		w.ex.inject(it)
		return deque.Nothing
	}
	return effect
}

// exploit runs it and everything that follows from it on this worker (document 000, Algorithm 3, lines 5 to 12).
func (w *Worker) exploit(it *Item) {
	for ; it != nil; it = w.pop() { // leaving the body may make an item ready, and so may a failure
		w.runItems(w, it)
		w.enter(nil)
	}
}

// pop takes the item that the worker pushed last, of those that it may run here. If there is none, and the worker is free,
// it takes one from outside: it would find that first anyhow, but only after it had become a thief and left its run. Not a
// surplus spare, which would take again what it has just given away.
func (w *Worker) pop() *Item {
	if w.waits.run != nil {
		return w.popFor(w.waits.run)
	}
	it := w.popOwn()
	if it == nil && w.refills && !w.core.injector.isEmpty() && !w.isSurplus() {
		it, _ = w.takeSubmitted()
	}
	return it
}

// popOwn takes the item that the worker pushed last.
func (w *Worker) popOwn() (it *Item) {
	if w.lane.IsDirect() {
		it = w.lane.PopDirect()
	} else {
		it = w.popAside()
	}
	return it
}

// popAside is popOwn for a lane that is not direct.
func (w *Worker) popAside() *Item {
	it, effect := w.lane.Pop(w.limit())
	w.tell(effect)
	return it
}

// checkpoint is what a busy worker does every pollInterval items, when it has entered the body of the next. It returns the item
// to go on with, and has entered that one's body, or nil if a helper has nothing more to do, or a spare is no longer needed.
func (w *Worker) checkpoint(it *Item) *Item {
	if w.counts.items%flushInterval == 0 {
		w.publishCounts()
		w.body.hooks.Flush(w)
	}
	if r := w.waits.run; r != nil {
		if r.over.Load() {
			w.putBack(it) // of a run that r has left behind
			return nil
		}
		return it
	}
	if w.isSurplus() {
		w.handOver(it)
		return nil
	}
	if w.core.injector.isEmpty() {
		return it
	}
	newcomer, _ := w.takeSubmitted()
	if newcomer == nil {
		return it
	}
	// What the layer above meant to bring along with it must not wait for the newcomer, which may take long.
	w.body.hooks.Flush(w)
	// Behind the others that wait there, not into the lane: the newcomer may be endless too, and would never come back
	// to it.
	w.ex.inject(it)
	if newcomer.Body != w.body {
		w.enter(newcomer.Body)
	}
	return newcomer
}

// putBack puts an item into the injector that was counted, and not run. The worker that runs it counts it again.
func (w *Worker) putBack(it *Item) {
	w.ex.inject(it)
	w.counts.overhead++
}

// enter turns the worker to the items of another body, or of none. What it counted is published for the statistics
// before the run it worked for can finish, so that after a run's end they know of all of it.
func (w *Worker) enter(b *Body) {
	if b == nil {
		w.turnTo(nil, w.labels.own)
		return
	}
	w.turnTo(b, w.labelsFor(b.owner().ctx.labels))
}

// turnTo is enter with the labels that the goroutine is to have then.
func (w *Worker) turnTo(b *Body, labels context.Context) {
	old := w.body
	if old != nil {
		w.publishCounts()
		old.hooks.Leave(w)
	}
	if b != nil {
		b.owner().visit(w)
		b.hooks.Enter(w)
	}
	w.body = b
	if old != nil || labels != w.labels.set { // tasks of old may have set labels and not told
		w.setLabels(labels)
	}
}

// failed deals with an item whose Exec did not return: it panicked with value or, if that is nil, called Goexit. The item that
// is to run next goes to the lane: after Goexit, also if a deferred function panics meanwhile, runItems does not return.
func (w *Worker) failed(it *Item, value any) {
	defer w.enter(nil) // also if what the layer above waits for calls Goexit
	err := error(ErrGoexit)
	if value != nil {
		if err = w.forks.rethrown(value); err == nil {
			err = &PanicError{Value: value, Stack: debug.Stack()}
		}
	}
	if next := w.body.hooks.Fail(w, it, err); next != nil {
		w.Push(next)
	}
}
