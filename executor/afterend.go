package executor

import (
	"log/slog"
	"runtime/debug"

	"github.com/magpie-go/magpie/internal/xsync"
)

// AfterEnd arranges that fn is called with the run's error after the run has ended. If the run is over, AfterEnd calls
// fn before it returns. No goroutine waits meanwhile. Any number of functions are called so, in any order.
//
// fn is called on the goroutine that ends the run, often a worker's, and also if the run was cancelled. It is called
// after a Wait of the run may have returned. Close waits for it. It should return soon and must not wait, but it may
// start runs and futures, on any executor, and resolve a [Promise]. Longer work belongs in an [Async] that comes after
// the run. A panic in fn is logged with [log/slog] and has no other effect. fn must not call [runtime.Goexit].
//
// AfterEnd panics if fn is nil.
func (r *Run) AfterEnd(fn func(err error)) {
	if fn == nil {
		panic("executor: Run.AfterEnd of a nil function")
	}
	r.mustBeMade()
	r.tell(func(err error) { contained(fn, err) })
}

// contained calls fn, and logs a panic: the caller is in the middle of the end of a run.
func contained(fn func(error), err error) {
	defer func() {
		if v := recover(); v != nil {
			defer func() { _ = recover() }() // methods of v, and the handler of the log, are user code
			slog.Error("executor: a function of AfterEnd has panicked",
				"failure", (&PanicError{Value: v}).Error(), "stack", string(debug.Stack()))
		}
	}()
	fn(err)
}

// tell arranges that fn is called after the end, or calls it.
func (r *Run) tell(fn func(error)) {
	r.mu.Lock()
	over := r.over.Load()
	if !over {
		r.callbacks = append(r.callbacks, fn)
	}
	r.mu.Unlock()
	if over {
		fn(r.err.Get())
	}
}

// publishEnd publishes the end of the run. It returns the functions to call with the run's error.
func (r *Run) publishEnd() (ends []func(error)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.done != nil {
		xsync.Close(r.done) // first: what sees over finds it closed
	}
	// D1(finish): set over, then look for helpers that wait for the run. Pairs with D1(await).
	r.over.Store(true)
	ends, r.callbacks = r.callbacks, nil
	return ends
}

// tellEnds calls the functions with the run's error. On an inline executor, one of them may run a task that calls
// Goexit, which must not skip the rest.
func (r *Run) tellEnds(ends []func(error)) {
	if len(ends) == 0 {
		return
	}
	// The worker may still be in the body of the run, which may serve another run already.
	if w := workerHere(); w != nil {
		body := w.body
		w.body = &w.core.nowhere
		defer func() { w.body = body }()
	}
	at := 0
	defer func() {
		if at < len(ends) {
			r.tellEnds(ends[at+1:])
		}
	}()
	for ; at < len(ends); at++ {
		ends[at](r.err.Get())
	}
}

// noHooks are the Hooks of core.nowhere, which has no items.
type noHooks struct{}

func (noHooks) Enter(*Worker)                    {}
func (noHooks) Leave(*Worker)                    {}
func (noHooks) Flush(*Worker)                    {}
func (noHooks) Fail(*Worker, *Item, error) *Item { return nil }
func (noHooks) Release()                         {}
