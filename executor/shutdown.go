package executor

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/magpie-go/magpie/internal/xatomic"
	"github.com/magpie-go/magpie/internal/xsync"
)

// shutdownPatience is how long after its deadline Shutdown waits for tasks to notice that they are cancelled, and
// shutdownLimit how long if other work still ends. Both are arbitrary: with a million futures and a million tasks of a
// graph queued, Shutdown returned 60 to 120 ms after its deadline (TestShutdownOfAMillion, two busy cores of an AMD
// EPYC, 2026-11-25).
const (
	shutdownPatience = time.Second
	shutdownLimit    = 5 * time.Second
)

// Shutdown is [Executor.Close] for a bounded time. It refuses new runs and futures from outside with [ErrClosed], and
// waits for those in progress.
//
// If ctx ends first, Shutdown cancels all that is in progress, and what tasks start from then on. It returns an error
// that matches [ErrShutdown] and the cause for which ctx ended. The same error is the cause for which all is cancelled.
// Tasks and functions that have not begun are skipped, so that every run and every future ends as soon as the tasks
// that it waits for have returned. If there is nothing to cancel, it returns what Close does.
//
// Shutdown returns at the latest a second after ctx has ended, or up to five seconds as long as queued work ends. It
// leaves behind tasks that do not heed their context. The error names their runs, and the function that each worker is
// in. It says for how long they have been cancelled, and lists functions of an [Observer] that have not returned. Their
// runs end when they return, and the executor is closed then. Other runs end meanwhile if there is a spare, and more
// than one worker.
//
// Shutdown may be called several times, also at the same time and with Close: the first ctx to end cancels the work for
// all of them. In a task of the same executor it does nothing and returns [ErrInTask].
func (ex *Executor) Shutdown(ctx context.Context) (err error) {
	if ctx == nil {
		panic("executor: Shutdown needs a context, got nil")
	}
	ex.mustBeMade()
	if ex.currentWorker() != nil {
		return ErrInTask
	}
	over := ctx.Done()
	ex.refuse()
	Blocking(func() { err = ex.drain(ctx, over) })
	return err
}

// drain waits until the executor is closed. If ctx ends before, it aborts the work in progress. So it does first if ctx
// has ended already: promises keep no executor from being closed, and would be left.
func (ex *Executor) drain(ctx context.Context, over <-chan struct{}) error {
	if over == nil || !xsync.IsClosed(over) {
		ex.life.aside.Do(ex.closeAside)
		xsync.Await(ex.life.closed, over)
		if xsync.IsClosed(ex.life.closed) { // perhaps both
			return ex.hooks.err()
		}
	}
	cause := fmt.Errorf("%w: %w", ErrShutdown, context.Cause(ctx))
	late := ex.runOn
	if !ex.abort(cause) {
		cause, late = nil, func() string { return "its threads have not ended" }
	}
	ex.life.aside.Do(ex.closeAside)
	if !ex.closesSoon() {
		return fmt.Errorf("%w (the executor is not closed yet: %s)", cmp.Or(cause, ErrShutdown), ex.heldUp(late()))
	}
	return cmp.Or(cause, ex.hooks.err())
}

// runOn says that tasks run on: for how long they have been cancelled, their runs, the oldest first, and the functions
// that workers are in.
func (ex *executor) runOn() string {
	since := time.Since(ex.life.cancelled).Round(time.Millisecond) // abort has held mu after that was written
	said := fmt.Sprintf("tasks run on that have not heeded their context for %v", since)
	runs := ex.runsInProgress()
	var names, tasks []string
	for _, r := range slices.Backward(runs[max(0, len(runs)-mostNamed):]) { // there may be a million
		names = append(names, strconv.Quote(r.Name()))
	}
	for _, stack := range ex.stacks() {
		if task := taskIn(stack); task != "" && !slices.Contains(tasks, task) {
			tasks = append(tasks, task)
		}
	}
	return said + some(", in run of ", names, len(runs)) + some(", in ", tasks, len(tasks))
}

// mostNamed is how many runs, and how many functions, an error of Shutdown names.
const mostNamed = 5

// some returns the first of n words, with what comes before them if there are any.
func some(before string, words []string, n int) string {
	if n == 0 {
		return ""
	}
	said := before + strings.Join(words[:min(n, mostNamed)], ", ")
	if n > mostNamed {
		said += fmt.Sprintf(" and %d more", n-mostNamed)
	}
	return said
}

// life is the state of an executor that is being closed.
type life struct {
	aside    xsync.Once    // the first Shutdown calls closeAside
	closed   chan struct{} // closed at the end of Close
	patience time.Duration // shutdownPatience, less in tests
	cancels  xatomic.Bool  // there was work to cancel for core.aborted

	// Guarded by core.mu.
	drained   bool      // no run or future is in progress any more
	standIn   bool      // a spare stands in for tasks that may run on
	cancelled time.Time // when abort was called
}

func newLife() life { return life{closed: make(chan struct{}), patience: shutdownPatience} }

// refuse makes the executor refuse runs and futures from outside.
func (ex *executor) refuse() {
	ex.mu.Lock()
	ex.closed.Store(true)
	ex.mu.Unlock()
	ex.attached.refused.make()
}

// abort cancels all that is in progress with the cause, and makes the executor refuse what tasks start from now on. It
// reports whether there was anything that has not ended yet. Only the first call has an effect.
//
// A run is in the list that abort goes through, or admit sees the cause: both hold core.mu. For futures see
// asyncs.abort.
func (ex *executor) abort(cause error) bool {
	ex.mu.Lock()
	if ex.life.drained || ex.aborted.Load() != nil {
		defer ex.mu.Unlock()
		return ex.life.cancels.Load() && !ex.life.drained
	}
	ex.life.cancelled = time.Now()
	ex.aborted.Store(&cause)
	runs := ex.listRuns()
	ex.life.cancels.Store(ex.isRunning())
	ex.mu.Unlock()
	// What has begun comes last: a worker that it leaves would begin something else.
	begun := ex.asyncs.abort(newCancelError(asyncName, context.Canceled, cause), cause)
	if len(begun) > 0 { // among them promises, which are not in progress
		ex.life.cancels.Store(true)
	}
	for _, r := range runs { // the newest first
		r.abort(cause)
	}
	for _, f := range begun {
		f.noticeAbort()
	}
	if !ex.life.cancels.Load() {
		return false
	}
	ex.sendStandIn()
	return true
}

// sendStandIn puts a spare to work if all workers may be busy with tasks that run on. It does not for a worker that was
// alone, whose items no other worker can take.
func (ex *executor) sendStandIn() {
	ex.mu.Lock()
	defer ex.mu.Unlock()
	if ex.inline == nil && ex.cfg.Workers > 1 && !ex.life.drained {
		ex.life.standIn = true
		ex.spares.Block()
	}
}

// abort cancels r, whose job may be user code.
func (r *Run) abort(cause error) {
	defer r.ctx.contain()
	r.cancel(context.Canceled, cause)
}

// noteDrained is called by Close when no run or future is in progress any more.
func (ex *executor) noteDrained() {
	ex.mu.Lock()
	ex.life.drained = true
	standIn := ex.life.standIn
	ex.mu.Unlock()
	if standIn {
		ex.spares.Unblock()
	}
}
