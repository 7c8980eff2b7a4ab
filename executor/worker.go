package executor

import (
	"context"
	"runtime/debug"

	"github.com/magpie-go/magpie/deque"
	"github.com/magpie-go/magpie/internal/pad"
	"github.com/magpie-go/magpie/internal/park"
	"github.com/magpie-go/magpie/internal/xatomic"
)

// A Worker runs items on an OS thread of its own. An item gets the worker that runs it; unless they say otherwise, the
// methods are for the item being run only.
type Worker struct {
	_ pad.Line

	// Constant; thieves read it, and not from a line that the owner writes.
	ex      *Executor
	core    *core // ex.core, a load less
	id      int
	deque   *deque.Deque[Item]
	queue   deque.Queue[Item]   // nil, or what the worker pushes to instead of deque, see queue.go
	batcher deque.Batcher[Item] // queue again, if thieves take several items at once
	_       pad.Line

	// Owner only, plain on purpose: the race detector checks the claim.
	body   *Body  // of the item being run; nil when the worker has none
	awaits *Run   // the run that the innermost help waits for; nil outside
	floor  uint64 // the bottom below which there is nothing for that help
	only   *Body  // if set, the only one whose items may be run
	rng    uint64
	victim int    // sticky: the last worker stolen from
	losses uint32 // steals lost, also to users of the injector
	crumbs int    // steals in a row that brought one short item each
	counts counts
	depth  int   // helps on the worker's stack
	nested int   // of children and futures, those that are run on top of others
	ended  int64 // futures, not yet counted out
	forkState
	queueState
	wakes    bool      // what the policy wants: a push wakes a worker if nobody is looking for work
	alone    bool      // there is no other worker; from the first that there is on it stays false
	spare    bool      // constant: it stands in for workers that block
	blocking bool      // the item being run is in Blocking
	shuffled *shuffled // constant; set for an inline worker

	labels    context.Context // of the goroutine, as they were set last
	ownLabels context.Context // those of a worker that runs nothing; nil for an inline worker

	_ pad.Line

	// Shared.
	state     xatomic.Tell32       // a workerState, for dumps
	thread    xatomic.Int64        // the worker's OS thread, as the kernel names it; 0 while it has none
	self      xatomic.Int64        // and as osthread.Self does
	seen      published            // counts, as of the last publication
	helping   xatomic.Pointer[Run] // what the worker, asleep in help, waits for
	helper    park.Parker          // where it sleeps then
	joins     joins                // what the worker waits for in its Joins
	waitsFor  xatomic.Pointer[Run] // the outermost run that the worker helps
	leapsFrom xatomic.Uint64       // bit id%64: it means to take items of such a worker, asleep in a Join; 0: of any
	hungry    xatomic.Bool         // nobody can steal from the worker, or thieves have asked: its next fork is to be published
	calledUp  park.Parker          // where a spare stands by

	discharged bool // a spare's thread is to end; plain, written by whoever takes it off standby, before Unpark
	_          pad.Line
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
	return w.body.Run().asRun()
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
	if w.aside {
		w.pushAside(it)
		return
	}
	w.deque.Push(it)
	// D1(push): the item is in the deque, then look for somebody who will look there. Pairs with D1(park) in the
	// policies and D1(help): those announce that they stop looking, then look once more.
	if w.core.thieves.Load() == 0 && w.core.anyoneAsleep() {
		w.wakeFor(w.body.Run())
	}
}

// wakeFor wakes somebody for items of r, or of any run if r is nil.
func (w *Worker) wakeFor(r *JobRun) {
	w.wakeThief()
	if w.core.sleepingHelpers.Load() > 0 {
		w.ex.wakeHelpers(r.asRun(), w)
	}
}

// wakeThief wakes a worker that sleeps because it has found nothing, if that is what the policy wants.
func (w *Worker) wakeThief() {
	if w.wakes && w.core.notifier.Waiting() {
		w.ex.wakeOne()
	}
}

// uncount leaves the item being run out of the tasks in [Stats].
func (w *Worker) uncount() { w.counts.overhead++ }

// exploit runs it and everything that follows from it on this worker (document 000, Algorithm 3, lines 5 to 12).
func (w *Worker) exploit(it *Item) {
	for ; it != nil; it = w.pop() { // leaving the body may make an item ready, and so may a failure
		w.runItems(it)
		w.enter(nil)
	}
}

// runItems runs items until the worker has no more or one fails to return. One deferred call serves all in between.
func (w *Worker) runItems(it *Item) {
	if w.shuffled != nil {
		w.runShuffled(it)
		return
	}
	var current *Item // the item being run; apart from it, which so can stay in a register
	returned := false
	defer func() {
		if !returned {
			w.failed(current, recover())
		}
	}()
	for it != nil {
		if it.Body != w.body {
			w.enter(it.Body)
		}
		if w.counts.items++; w.counts.items%pollInterval == 0 || w.polled && w.hungry.Load() {
			if it = w.tock(it); it == nil {
				break
			}
		}
		current = it
		if it = it.Exec(w, it); it == nil {
			it = w.pop()
		}
	}
	returned = true
}

// pop takes the item that the worker pushed last, of those that it may run here. If there is none, and the worker is free,
// it takes one from outside: it would find that first anyhow, but only after it had become a thief and left its run. Not a
// spare that is to leave, which would take again what it has just given away.
func (w *Worker) pop() *Item {
	if w.awaits != nil {
		return w.popFor(w.awaits)
	}
	it := w.popOwn()
	if it == nil && w.wakes && !w.core.injector.isEmpty() && !w.isSurplus() {
		it, _ = w.stealFrom(w.id)
	}
	return it
}

func (w *Worker) popOwn() (it *Item) {
	if w.aside {
		it = w.popAside()
	} else {
		it = w.deque.Pop()
	}
	if it != nil {
		w.counts.pops++
	}
	return it
}

// tock is what a busy worker does every pollInterval items, when it has entered the body of the next. It returns the item
// to go on with, and has entered that one's body, or nil if a helper has nothing more to do, or a spare is no longer needed.
//
// A worker whose queue thieves ask does it as soon as they have, and then only answers: otherwise they would wait as long as
// items follow each other without the queue.
func (w *Worker) tock(it *Item) *Item {
	if w.polled {
		w.poll()
		if w.counts.items%pollInterval != 0 {
			return it
		}
	}
	if w.counts.items%flushInterval == 0 {
		w.seen.publish(&w.counts)
		w.body.hooks.Flush(w)
	}
	if r := w.awaits; r != nil {
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
	newcomer, _ := w.stealFrom(w.id)
	if newcomer == nil {
		return it
	}
	// What the layer above meant to bring along with it must not wait for the newcomer, which may take long.
	w.body.hooks.Flush(w)
	// Behind the others that wait there, not into the deque: the newcomer may be endless too, and would never come back
	// to it.
	w.ex.inject(it)
	if newcomer.Body != w.body {
		w.enter(newcomer.Body)
	}
	return newcomer
}

// putBack gives an item that was counted, and not run, to whoever runs it and counts it again.
func (w *Worker) putBack(it *Item) {
	w.ex.inject(it)
	w.counts.overhead++
}

// enter turns the worker to the items of another body, or of none. What it counted is published for the statistics
// before the run it worked for can finish, so that after a run's end they know of all of it.
func (w *Worker) enter(b *Body) {
	if b == nil {
		w.turnTo(nil, w.ownLabels)
		return
	}
	w.turnTo(b, w.labelsFor(b.Run().ctx.labels))
}

// turnTo is enter with the labels that the goroutine is to have then.
func (w *Worker) turnTo(b *Body, labels context.Context) {
	old := w.body
	if old != nil {
		w.seen.publish(&w.counts)
		old.hooks.Leave(w)
	}
	if b != nil {
		b.Run().visit(w)
		b.hooks.Enter(w)
	}
	w.body = b
	if old != nil || labels != w.labels { // tasks of old may have set labels and not told
		w.setLabels(labels)
	}
}

// failed deals with an item whose Exec did not return: it panicked with value or, if that is nil, called Goexit. What is
// to run next goes to the deque: after Goexit, also if a deferred function panics meanwhile, runItems does not return.
func (w *Worker) failed(it *Item, value any) {
	defer w.enter(nil) // also if what the layer above waits for calls Goexit
	err := error(ErrGoexit)
	if value != nil {
		if err = w.rethrown(value); err == nil {
			err = &PanicError{Value: value, Stack: debug.Stack()}
		}
	}
	if next := w.body.hooks.Fail(w, it, err); next != nil {
		w.Push(next)
	}
}
