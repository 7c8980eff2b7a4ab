package executor

import (
	"slices"
	"sync"

	"github.com/magpie-go/magpie/internal/osthread"
)

// inline is the state of an executor without threads.
type inline struct {
	seed  uint64
	mu    sync.Mutex // held by the goroutine that is the worker
	below *Worker    // another executor's worker whose task that goroutine runs, or nil; plain, under mu

	// woken takes the place of the sleeper's park.Parker. Under testing/synctest, time passes while a goroutine waits
	// for a channel, but not while it sleeps on a futex.
	woken chan struct{}
}

func newInline(seed uint64) *inline { return &inline{seed: seed, woken: make(chan struct{}, 1)} }

// sleep waits until the inline worker is woken, as in Blocking.
func (i *inline) sleep() { Blocking(func() { <-i.woken }) }

// wake ends the sleep of the inline worker, or its next one.
func (i *inline) wake() {
	select {
	case i.woken <- struct{}{}:
	default:
	}
}

// noticeContexts cancels every run in progress on an inline executor whose caller's context has ended. It begins with
// the oldest run: the contexts of other runs may be derived from its own. Other goroutines tell a run of that end too,
// but at a moment that no seed chooses, so noticeContexts is called before a run is checked for its stop. The worker
// only. On an executor with threads it does nothing.
func (ex *core) noticeContexts() {
	if ex.inline == nil {
		return
	}
	ex.mu.Lock()
	runs := ex.listRuns()
	ex.mu.Unlock()
	for _, r := range slices.Backward(runs) { // without the lock: a context may be user code
		r.noticeContext()
	}
}

// drive makes the caller the worker of an inline executor until nothing is ready. It does nothing if the caller is the
// worker already, which is then w, or if another goroutine is, which runs the caller's items too.
func (ex *core) drive(w *Worker) {
	if ex.inline == nil || w != nil || ex.injector.isEmpty() || !ex.inline.mu.TryLock() {
		return
	}
	// A goroutine that fails to get the lock has injected its items before. The goroutine that has the lock looks at
	// the injector again after it has unlocked it, even after Goexit.
	defer ex.drive(nil)
	defer ex.inline.mu.Unlock()
	osthread.LockBriefly()
	defer osthread.UnlockBriefly()
	ex.inline.below = workerHere()
	w = ex.roster[0]
	w.thread.occupy()
	defer w.thread.vacate()
	w.drain()
}

// drain runs all ready items. If runtime.Goexit ends a task, and with it the goroutine, a deferred call runs the rest:
// there is no other thread to take them over, and another goroutine may wait for them.
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
