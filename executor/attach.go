package executor

import "github.com/magpie-go/magpie/deque"

// attachments are the calls that features have the kernel make. They are constant once the executor is made, and most
// are empty, which costs a comparison. None is made between one item and the next.
type attachments struct {
	occupied, vacated workerCalls // a thread is the worker's from now on, or no longer; on that thread
	begun             workerCalls // the worker's thread is about to look for work for the first time
	running           workerCalls // the worker runs items, or goes on after a sleep
	nested            workerCalls // the worker is about to run items on top of the one being run
	withheld          workerCalls // the worker is about to wait, sleep or block: others must see all that it has
	parked, woken     workerCalls // the worker's thread is about to sleep, or has slept
	published         workerCalls // the worker has published its counts
	labelled          workerCalls // the worker's goroutine has other labels

	// The worker can run no items for a while, and then can again. able says that it can be woken for any item.
	asleep []func(w *Worker, able bool)
	awake  workerCalls

	meets  []func(w, victim *Worker) bool // the thief is about to steal; true: it must not, and ceases to be one
	tried  []func(w, victim *Worker, outcome deque.Outcome)
	leaves workerAsks // true: the worker, a thief, leaves service
	rested workerAsks // a worker that has left service rests; false: it need not

	wakeAll   []func()                             // workers that are away and could run any item are to look around
	stole     []func(thief, victim *Worker, n int) // n items were stolen; victim is nil if it dealt them out
	submitted []func()                             // an item was submitted, or put back
	over      []func(*Run)                         // a run has ended; those that wait for it are told afterwards

	sharesLanes bool // a lane that is its worker's alone ceases to be when the worker begins to run items
}

// workerCalls are calls for one worker.
type workerCalls []func(*Worker)

func (all *workerCalls) add(call func(*Worker)) { *all = append(*all, call) }

// make makes the calls for w.
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
