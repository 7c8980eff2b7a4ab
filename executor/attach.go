package executor

import (
	"context"

	"github.com/magpie-go/magpie/deque"
	"github.com/magpie-go/magpie/executor/internal/policy"
)

// attachments are the calls that features have the kernel make. They are constant once the executor is made, and most
// are empty, which costs a comparison. None is made between one item and the next.
type attachments struct {
	// These make a worker or a run together with what the features keep for it. Features are asked to admit workers to
	// bounded runs only, and are told only when a worker turns to or from one.
	newWorker func(i int) *Worker
	newRun    func(j Job, parent *Run) (r *JobRun, of Job, bounded bool)

	// host returns the Host that a worker's policy gets: the kernel's, with methods of a feature. It may be nil.
	host func(*Worker, policy.Host) policy.Host

	// start calls rest, the worker's life on the calling thread, or fails. end calls rest, which ends the thread.
	start func(w *Worker, rest, fails func())
	end   func(w *Worker, rest func())

	// The worker.
	occupied, vacated workerCalls // a thread is the worker's from now on, or no longer; on that thread
	begun             workerCalls // the worker's thread is about to look for work for the first time
	running           workerCalls // the worker runs items, or goes on after a sleep
	nested, unnested  workerCalls // the worker is about to run items on top of the one being run, or has done so
	withheld          workerCalls // the worker is about to wait, sleep or block: others must see all that it has
	moved             workerCalls // the worker's items run on another stack from now on
	parked, woken     workerCalls // the worker's thread is about to sleep, or has slept
	published         workerCalls // the worker has published its counts
	labelled          workerCalls // the worker's goroutine has other labels

	// The worker can run no items for a while, and then can again. able says that it can be woken for any item.
	asleep []func(w *Worker, able bool)
	awake  workerCalls

	// Another thread has found that a worker's task blocks without Blocking, or no longer does. The worker does not
	// know. silent comes after a spare was called up, and heard before one is let go, as in Blocking.
	silent, heard plainCalls

	// The item.
	admits []func(w *Worker, it *Item) bool             // for bounded runs; false: not now, the feature has taken the item
	held   []func(w *Worker, of *Run, only *Item) *Item // see takeHeld
	turned []func(w *Worker, b *Body)                   // the worker has turned to b, perhaps nil, to or from a bounded run
	helps  []func(w *Worker, r *Run)                    // the worker begins to run items on top of a task that waits for r
	thrown []func(w *Worker, value any) error           // see failure
	quiet  workerAsks                                   // true: nobody is to be woken for what the item has pushed

	// The thief.
	meets  []func(w, victim *Worker) bool // the thief is about to steal; true: it must not, and ceases to be one
	tried  []func(w, victim *Worker, outcome deque.Outcome)
	leaves workerAsks                           // true: the worker, a thief, leaves service
	rested workerAsks                           // a worker that has left service rests; false: it need not
	stole  []func(thief, victim *Worker, n int) // n items were stolen; victim is nil if it dealt them out

	// All workers.
	wakeAll   plainCalls // workers that are away and could run any item are to look around
	submitted plainCalls // an item was submitted, or put back

	// The run.
	gate    gate                                   // nil: all may come in
	began   runCalls                               // a run has begun, and its first item cannot be seen yet
	offered []func(r *JobRun, first *Item) bool    // see offer
	awaited []func(end ending, r *Run, only *Item) // see tellAwaited
	over    runCalls                               // a run has ended; those that wait for it are told afterwards

	// Work in progress: that of runs, which is the kernel's, and that of features.
	busy, idle plainCalls    // some work has begun, and the last of it has ended; once for runs and once for each feature
	works      []func() bool // true: the feature has work in progress
	refused    plainCalls    // nothing comes from outside any more; core.closed is set

	sharesLanes  bool // a lane that is its worker's alone ceases to be when the worker begins to run items
	sleepsAlways bool // a worker sleeps in a wait even if its policy's thieves do not
}

// A gate bounds the runs in progress that were started from outside.
type gate interface {
	// enter counts a run in, or returns the error for which it must not begin. If there is no room it waits until ctx
	// ends or, if tries is set, returns an error at once. Of a caller that must not wait it does not count the run.
	enter(ctx context.Context, job string, tries bool) (counted bool, err error)
	// leave counts a run out that was counted.
	leave()
}

// plainCalls are calls of features, in the order in which these were attached.
type plainCalls []func()

func (all plainCalls) make() {
	for _, call := range all {
		call()
	}
}

// runCalls are calls for one run.
type runCalls []func(*Run)

func (all runCalls) make(r *Run) {
	for _, call := range all {
		call(r)
	}
}

// workerCalls are calls for one worker.
type workerCalls []func(*Worker)

func (all *workerCalls) add(call func(*Worker)) { *all = append(*all, call) }

func (all workerCalls) make(w *Worker) {
	for _, call := range all {
		call(w)
	}
}

// workerAsks are questions about one worker.
type workerAsks []func(*Worker) bool

// any asks until an answer is true.
func (all workerAsks) any(w *Worker) bool {
	for _, ask := range all {
		if ask(w) {
			return true
		}
	}
	return false
}

// admit returns item it, or nil if w must not run it now.
func (on *attachments) admit(w *Worker, it *Item) *Item {
	if !it.Body.isBounded() {
		return it
	}
	for _, admits := range on.admits {
		if !admits(w, it) {
			return nil
		}
	}
	return it
}

func (on *attachments) tellTurned(w *Worker, b *Body) {
	for _, turned := range on.turned {
		turned(w, b)
	}
}

// takeHeld returns an item that admit has kept back and that w may run now: the one given, one of run of, or of a run
// nested in it, or any if both are nil. It returns nil if there is none.
func (on *attachments) takeHeld(w *Worker, of *Run, only *Item) *Item {
	for _, held := range on.held {
		if it := held(w, of, only); it != nil {
			return it
		}
	}
	return nil
}

func (on *attachments) tellHelps(w *Worker, r *Run) {
	for _, helps := range on.helps {
		helps(w, r)
	}
}

// failure returns the failure for which a feature lets the item being run panic with value, or nil.
func (on *attachments) failure(w *Worker, value any) error {
	for _, thrown := range on.thrown {
		if err := thrown(w, value); err != nil {
			return err
		}
	}
	return nil
}

// offer offers the first items of r to the caller, which is on no worker and waits for r. It reports whether the caller
// has run them, or handed them on.
func (on *attachments) offer(r *JobRun, first *Item) bool {
	for _, offered := range on.offered {
		if offered(r, first) {
			return true
		}
	}
	return false
}

// tellAwaited tells that a caller that is on no worker is about to wait for an end: that of run r or, if only is not
// nil, that of this item of r.
func (on *attachments) tellAwaited(end ending, r *Run, only *Item) {
	for _, awaited := range on.awaited {
		awaited(end, r, only)
	}
}

// mustNotSteal reports whether w, a thief, must not steal from the victim, and ceases to be one.
func (on *attachments) mustNotSteal(w, victim *Worker) bool {
	for _, meets := range on.meets {
		if meets(w, victim) {
			return true
		}
	}
	return false
}

func (on *attachments) tellTried(w, victim *Worker, outcome deque.Outcome) {
	for _, tried := range on.tried {
		tried(w, victim, outcome)
	}
}

func (on *attachments) tellStole(thief, victim *Worker, n int) {
	for _, stole := range on.stole {
		stole(thief, victim, n)
	}
}

func (on *attachments) tellAsleep(w *Worker, able bool) {
	for _, asleep := range on.asleep {
		asleep(w, able)
	}
}

// isBusy reports whether a feature has work in progress that is no run.
func (on *attachments) isBusy() bool {
	for _, works := range on.works {
		if works() {
			return true
		}
	}
	return false
}
