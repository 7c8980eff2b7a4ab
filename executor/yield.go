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
//	for _, block := range blocks {
//		if err := executor.Yield(ctx); err != nil {
//			return err
//		}
//		compress(block)
//	}
//
// On a worker Yield offers the core to other threads that are ready, of this process and of others: 100 µs after it
// had the core back, or as long after as it had to wait for it, up to 4 ms. So the worker keeps about half of a core
// beside a thread that never sleeps, or less if the kernel says so, see [host.Threads].Class and Nice. With
// [host.Options].KeepGOMAXPROCS Yield offers the worker's P to goroutines instead, at most once in a millisecond, as
// each offer costs some microseconds. If thieves want items, Yield shows them those that the task has kept back, such
// as private forks. With [host.Options].Share the worker may rest in it. Yield runs no other task on top of the calling
// one. A lock that the caller holds is held for as long as others go first.
//
// Together with a Nice of 5 this is the best for handlers beside tasks that leave the garbage collector little to do.
// With calls every 35 µs their 99th percentile beside two busy workers on two cores was 0.24 ms for arithmetic and 0.39
// ms for tasks that allocate, and without Yield 0.41 and 1.4 ms. Without any work it was 0.39 and 0.36 ms (AMD EPYC,
// Linux 6.18, 2026-11-25).
//
// Elsewhere Yield calls [runtime.Gosched]. So it does in a task of [NewInline].
//
// Yield costs some 40 ns while nothing waits, half of which find the worker. A loop may call it every few microseconds.
// It looks at the clock less often than it is called if the calls of one task come closer together. When they then
// come farther apart, up to 32 of them pass before the next offer. It allocates nothing. Any goroutine may call it. It
// panics if ctx is nil.
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
	if !w.body.Stopped() {
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
