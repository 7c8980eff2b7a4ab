package executor

import (
	"slices"
	"sync"

	"github.com/magpie-go/magpie/internal/osthread"
)

// NewInline returns an executor for tests. It has no threads: whoever starts a run, or a call of [Async], runs it before that
// returns, on the calling goroutine, and with it whatever else is ready. What is ready is run in an order that the seed
// chooses, and that is the same for the same seed: a test tries many, and finds what relies on an order that nothing
// guarantees. When a task ends the context that its run was started with, no other task of the run begins after it.
//
// It has one worker, and in all else is an executor like others. Goroutines that use it at once take turns, and then
// choose the order too. A task may use other executors, with threads or without, and is on the worker of each executor
// whose tasks stand on its goroutine's stack: to run something there, and to wait for it, is to do it nested. A task
// that waits for something that only the caller could do next waits for ever.
//
// runtime.Goexit in a task, as of t.FailNow, ends the caller's goroutine too, after what else is ready has run. The
// caller may also be who gives back a permit of a semaphore that the task waited for, or ends a [Future] that it comes
// after.
//
// The executor may be used under testing/synctest: time passes while its tasks wait. It is for the bubble in which it
// was made, as are its runs and futures: the runtime ends the process with a fatal error if an executor is used both in
// a bubble and outside that. Make one in each bubble. Graphs, semaphores and other jobs may be used in one bubble after
// the other, and outside. Executors of [New] are not for bubbles: time does not pass while a thread sleeps.
func NewInline(seed uint64) *Executor {
	cfg := Config{Workers: 1, Name: "inline", KeepGOMAXPROCS: true}
	return newExecutorOn(cfg, &inline{seed: seed, woken: make(chan struct{}, 1)})
}

// inline is what an executor without threads has instead.
type inline struct {
	seed  uint64
	mu    sync.Mutex // held by the goroutine that is the worker
	below *Worker    // the worker, of another executor, whose task that goroutine runs, or nil; its own, plain

	// woken has a permission for a worker that sleeps in a nested run, as a park.Parker does. Under testing/synctest
	// time passes meanwhile, which it does not while a goroutine sleeps on a futex.
	woken chan struct{}
}

// sleep is sleeper.sleep of an inline worker.
func (i *inline) sleep() { Blocking(func() { <-i.woken }) }

// wake is sleeper.wake of an inline worker.
func (i *inline) wake() {
	select {
	case i.woken <- struct{}{}:
	default:
	}
}

// noticeContexts has every run in progress on an inline executor see whether its caller's context has ended, the oldest
// first: contexts of others may be derived from its own. Other goroutines bring the news too, but at a moment that no
// seed chooses. So whatever looks whether a run is stopped looks here first. The worker only; elsewhere it does
// nothing.
func (w *Worker) noticeContexts() {
	if w.inline == nil {
		return
	}
	ex := w.ex
	var runs []*Run
	ex.mu.Lock()
	for r := ex.runs; r != nil; r = r.next {
		runs = append(runs, r)
	}
	ex.mu.Unlock()
	for _, r := range slices.Backward(runs) { // without the lock: some contexts are of others' making
		r.noticeContext()
	}
}

// drive lets the caller be the worker until nothing is ready, unless it is, or another goroutine is, which will then
// see what the caller has made available. w is the worker if the caller is.
func (ex *Executor) drive(w *Worker) {
	if ex.inline == nil || w != nil || ex.injector.isEmpty() || !ex.inline.mu.TryLock() {
		return
	}
	// Whoever fails to get the lock has injected before; whoever has it looks again after giving it up, also after
	// Goexit.
	defer ex.drive(nil)
	defer ex.inline.mu.Unlock()
	osthread.Lock()
	defer osthread.Unlock()
	ex.inline.below = workerHere()
	w = ex.roster[0]
	w.occupy()
	defer w.vacate()
	w.drain()
}

// drain runs what is ready. What is left when runtime.Goexit ends a task, and with it the goroutine, is run before the
// goroutine has ended: there is no other thread to take it over, and somebody may wait for it.
func (w *Worker) drain() {
	ended := false
	defer func() {
		if !ended {
			w.drain()
		}
	}()
	w.exploit(w.pop())
	ended = true
}
