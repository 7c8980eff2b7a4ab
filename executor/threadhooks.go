package executor

import (
	"fmt"
	"runtime/debug"

	"github.com/magpie-go/magpie/internal/xatomic"
)

// threadHooks are Start and End of [host.Threads].
type threadHooks struct {
	name       string // of the executor
	start, end func(worker int)
	up         xatomic.Bool           // New has succeeded, as far as the workers' threads go
	failure    xatomic.Pointer[error] // the first
}

// attachTo has the kernel call the hooks.
func (h *threadHooks) attachTo(on *attachments, cfg *settings) {
	h.name, h.start, h.end = cfg.Name, cfg.Threads.Start, cfg.Threads.End
	on.start, on.end = h.callStart, h.callEnd
}

// err returns the first failure, or nil.
func (h *threadHooks) err() error {
	if err := h.failure.Load(); err != nil {
		return *err
	}
	return nil
}

// note records how a call of a hook on the calling thread has ended: returned, or with a panic of value, or by Goexit.
func (h *threadHooks) note(w *Worker, hook string, returned bool, value any) {
	if returned {
		return
	}
	err := error(ErrGoexit)
	if value != nil {
		err = &PanicError{Value: value, Stack: debug.Stack()}
	}
	err = fmt.Errorf("executor %q: Config.Threads.%s on the thread of worker %d: %w", h.name, hook, w.id, err)
	h.failure.CompareAndSwap(nil, &err)
}

// callStart calls Threads.Start, and then the rest of the worker's life. If the hook fails, fails is called in
// place of the rest: then a spare is out of service, and for another worker New fails. A worker that has lost its
// thread to a Goexit cannot go on without one, so the process ends. The calling goroutine has nothing else to do:
// Goexit ends it.
func (h *threadHooks) callStart(w *Worker, rest, fails func()) {
	if h.start == nil {
		rest()
		return
	}
	returned := false
	func() {
		defer func() {
			if h.note(w, "Start", returned, recover()); returned {
				return
			}
			if !w.isSpare() && h.up.Load() {
				panic(fmt.Errorf("%w\nthe worker cannot go on without a thread: "+
					"a task has ended the last by runtime.Goexit", h.err()))
			}
			fails()
		}()
		h.start(w.id)
		returned = true
	}()
	if returned {
		rest()
	}
}

// callEnd calls Threads.End, and then rest, however the hook ends.
func (h *threadHooks) callEnd(w *Worker, rest func()) {
	if h.end == nil {
		rest()
		return
	}
	defer rest()
	returned := false
	defer func() { h.note(w, "End", returned, recover()) }()
	h.end(w.id)
	returned = true
}

// check returns the failure of New because of Threads.Start, or nil. All workers have threads.
func (h *threadHooks) check() error {
	if err := h.err(); err != nil {
		return err
	}
	h.up.Store(true)
	return nil
}
