package executor

import (
	"fmt"
	"runtime/debug"

	"github.com/magpie-go/magpie/internal/osthread"
	"github.com/magpie-go/magpie/internal/xatomic"
)

// threadHooks keeps the first failure of Config.ThreadStart and ThreadEnd.
type threadHooks struct {
	failure xatomic.Pointer[error]
}

// err returns the first failure, or nil.
func (h *threadHooks) err() error {
	if err := h.failure.Load(); err != nil {
		return *err
	}
	return nil
}

// note records how a call of a hook on the calling thread has ended: returned, or with a panic of value, or by Goexit.
func (w *Worker) note(hook string, returned bool, value any) {
	if returned {
		return
	}
	err := error(ErrGoexit)
	if value != nil {
		err = &PanicError{Value: value, Stack: debug.Stack()}
	}
	err = fmt.Errorf("executor %q: Config.%s on the thread of worker %d: %w", w.core.cfg.Name, hook, w.id, err)
	w.core.hooks.failure.CompareAndSwap(nil, &err)
}

// startHook calls Config.ThreadStart, and then the rest of the worker's life. If the hook fails, failed is called in
// place of the rest. The calling goroutine has nothing else to do: Goexit ends it.
func (w *Worker) startHook(rest, failed func()) {
	hook := w.core.cfg.ThreadStart
	if hook == nil {
		rest()
		return
	}
	returned := false
	func() {
		defer func() {
			if w.note("ThreadStart", returned, recover()); !returned {
				failed()
			}
		}()
		hook(w.id)
		returned = true
	}()
	if returned {
		rest()
	}
}

// endHook calls Config.ThreadEnd, and then rest, however the hook ends.
func (w *Worker) endHook(rest func()) {
	hook := w.core.cfg.ThreadEnd
	if hook == nil {
		rest()
		return
	}
	defer rest()
	returned := false
	defer func() { w.note("ThreadEnd", returned, recover()) }()
	hook(w.id)
	returned = true
}

// hookFailed ends the thread of the worker, on which Config.ThreadStart has failed. A spare is taken out of service, as
// one for which no thread could be started. For another worker, New fails. A worker that has lost its thread to a
// Goexit cannot go on without one, so the process ends.
func (w *Worker) hookFailed(ready func()) {
	if !w.isSpare() && w.core.up.Load() {
		panic(fmt.Errorf("%w\nthe worker cannot go on without a thread: a task has ended the last by runtime.Goexit",
			w.core.hooks.err()))
	}
	w.ex.leaving.add(w.thread.id.Load())
	w.thread.goroutine.Store(0)
	w.vacate()
	ready()
	osthread.Unclaim()
	if w.isSpare() {
		w.spareFailed()
	}
	w.ex.alive.Done()
}

// checkHooks returns the failure of New because of Config.ThreadStart, or nil. All workers have threads.
func (ex *Executor) checkHooks() error {
	if err := ex.hooks.err(); err != nil {
		return err
	}
	ex.up.Store(true)
	return nil
}

// mustBeInTask panics if the caller is on worker w, but in none of its tasks: in a hook of its thread.
func (w *Worker) mustBeInTask() {
	if w != nil && w.body == nil {
		panic("executor: Config.ThreadStart, Config.ThreadEnd or an Observer starts, or waits for, work " +
			"of its executor")
	}
}
