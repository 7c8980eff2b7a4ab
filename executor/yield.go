package executor

import (
	"cmp"
	"context"
	"runtime"
	"time"

	"github.com/magpie-go/magpie/executor/internal/pace"
	"github.com/magpie-go/magpie/internal/osthread"
)

// Yield is a place in a long task where others may go first, as the end of a task is. It returns the error of ctx, or
// of the run that the calling task belongs to, once either has ended: nil says that the task is to go on.
//
// On a worker Yield offers the core to other threads that are ready, of this process and of others, at most every 100
// µs. The worker keeps about half of a core beside a thread that never sleeps, or less with a Nice or Class of
// [host.Threads]. With [host.Options].KeepGOMAXPROCS it offers its P to goroutines instead. Yield also shows thieves
// the items that the task has kept back, such as private forks. It runs no other task on top of the calling one.
//
// Elsewhere, and in a task of [NewInline], it calls [runtime.Gosched]. It costs 40 ns while nothing waits: a loop may
// call it every few µs, see BENCHMARKS.md.
func Yield(ctx context.Context) error {
	if ctx == nil {
		panic("executor: Yield needs a context, got nil")
	}
	w := workerHere()
	t := w
	for t != nil && t.inline != nil {
		t = t.below()
	}
	if t != nil {
		yield(t)
	} else {
		runtime.Gosched()
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if w == nil || w.body == nil {
		return nil
	}
	w.core.noticeContexts()
	if !w.body.Look() {
		return nil
	}
	return cmp.Or(w.body.owner().ctx.Err(), context.Canceled)
}

// How often Yield offers the core and the P. Offering a core that nobody wants costs 0.2 µs, offering a P 5 to 10 µs.
var (
	corePace = pace.Pace{Interval: int64(100 * time.Microsecond), Longest: int64(4 * time.Millisecond)}
	pPace    = pace.Pace{Interval: int64(time.Millisecond), Longest: int64(10 * time.Millisecond)}
)

// paceFor returns the pace at which the workers of an executor yield.
func paceFor(cfg *settings) pace.Pace {
	if cfg.Host.KeepGOMAXPROCS {
		return pPace
	}
	return corePace
}

// yield offers the core, or the P, to others if it is time. The worker has a thread. The item being run only.
func yield(w *Worker) {
	if w.body != nil && !w.waits.blocking {
		forksOf(w).attendIfAsked()
	}
	task := w.counts.items
	if partsOf(w).pace.Skip(task) {
		return
	}
	now := nanotime()
	if !partsOf(w).pace.Look(task, now) {
		return
	}
	if executorOf(w.core).cfg.Host.KeepGOMAXPROCS || w.thread.isLent() {
		runtime.Gosched()
	} else {
		osthread.Yield()
	}
	partsOf(w).pace.Offered(now, nanotime())
}
