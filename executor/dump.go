package executor

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/magpie-go/magpie/executor/internal/stalls"
	"github.com/magpie-go/magpie/internal/osthread"
)

// Dump writes to out the state of every worker, the lengths of the queues, the notifier's state and the runs in
// progress. It may be called at any time. The output is not a consistent snapshot. The error is that of out.
func (ex *Executor) Dump(out io.Writer) error {
	ex.mustBeMade()
	if out == nil {
		panic("executor: Dump needs a writer, got nil")
	}
	return ex.executor.Dump(out)
}

// Dump implements living.Dumper.
func (ex *executor) Dump(out io.Writer) error {
	var b strings.Builder
	workers := ex.workers()
	fmt.Fprintf(&b, "executor %q: %d workers, policy %s, callers %s, thieves %d, actives %d, helpers asleep %d, "+
		"stopping %v\n",
		ex.cfg.Name, ex.cfg.Workers, ex.cfg.chosen.Policy, ex.cfg.callers(),
		ex.policy.Thieves().Load(), ex.policy.Actives(), ex.sleepingHelpers.Load(), ex.stop.Load())
	fmt.Fprintf(&b, "notifier: %v\n", ex.notifier)
	fmt.Fprintf(&b, "injector: %d items\n", ex.injector.len())
	fmt.Fprintf(&b, "asyncs: %d not ended\n", ex.asyncs.left.Load())
	spares := ex.spares.Counts()
	fmt.Fprintf(&b, "spares: %d in service, %d on standby, at most %d; %d workers blocked, %d asleep in a wait\n",
		spares.Serving, spares.Standby, ex.spares.Limit(), spares.Blocked, spares.Asleep)
	if n := ex.silence.times.Load(); n > 0 {
		fmt.Fprintf(&b, "blocked without Blocking: %d times so far\n", n)
	}
	b.WriteString(ex.sharing.lines())
	if err := ex.unnamed.Load(); err != nil {
		fmt.Fprintf(&b, "threads without names: %v\n", *err)
	}
	if err := ex.hooks.err(); err != nil {
		fmt.Fprintf(&b, "failed: %s\n", strings.ReplaceAll(err.Error(), "\n", "; "))
	}
	if err := ex.schedule.err(); err != nil {
		fmt.Fprintf(&b, "refused by the system: %s\n", strings.ReplaceAll(err.Error(), "\n", "; "))
	}
	b.WriteString(ex.observers.failures())
	if calls := ex.observers.unreturned(); len(calls) > 0 {
		fmt.Fprintf(&b, "in functions of observers: %s\n", strings.Join(calls, ", "))
	}
	keeps := false
	runs := ex.runsInProgress()
	for _, w := range workers {
		s := w.seen.snapshot()
		deque := fmt.Sprintf("%d items", w.lane.Len())
		switch {
		case len(workers) == 1 && !w.lane.IsFIFO():
			deque = "private" // not to be seen by other threads
		case w.lane.Hides():
			deque += " to steal" // only the worker knows the number of hidden items
		}
		fmt.Fprintf(&b, "worker %d: %v, thread %d, deque %s, %d tasks, %d steals, %d parks",
			w.id, WorkerState(w.seen.state.Load()), w.thread.id.Load(), deque, s.Tasks, s.StealsWon, s.Parks)
		switch {
		case partsOf(w).silent.Load() != 0:
			b.WriteString(", blocked without Blocking")
			keeps = true
		case doing(w) == stalls.InTask && sleeps(w):
			b.WriteString(", asleep in a task, outside Blocking")
			keeps = true
		}
		if w.thread.isLent() {
			b.WriteString(", a caller of Run in its place")
		}
		if g := w.thread.goroutine.Load(); g != 0 {
			fmt.Fprintf(&b, ", goroutine %d", g)
		}
		r := w.sleeper.run.Load()
		if r == &ex.asyncs.all.Run || slices.Contains(runs, r) { // another may have ended, and serve the next Call
			fmt.Fprintf(&b, ", waits for run of %q", r.Name())
		}
		b.WriteByte('\n')
	}
	if keeps {
		b.WriteString("a task that sleeps outside Blocking keeps from other workers: private forks of Fork, " +
			"items that its deque hides, and with one worker the other tasks of its graph\n")
	}
	fmt.Fprintf(&b, "runs in progress: %d, closed %v\n", len(runs), ex.closed.Load())
	for _, r := range runs {
		r.noticeContext()
		err, _ := r.ctx.ending()
		fmt.Fprintf(&b, "run of %q: context error %v", r.Name(), err)
		if p := r.parent.Load(); p != nil {
			fmt.Fprintf(&b, ", nested in run of %q", p.Name())
		}
		if n := r.waiting(); n > 0 {
			fmt.Fprintf(&b, ", %d tasks wait without a worker", n)
		}
		if p := r.priority; p != Normal {
			fmt.Fprintf(&b, ", priority %v", p)
		}
		if l := partsOfRun(r).limit; l != nil {
			in, held := l.load()
			fmt.Fprintf(&b, ", %d of %d workers, %d items held", in, l.most, held)
		}
		b.WriteByte('\n')
	}
	_, err := io.WriteString(out, b.String())
	return err
}

// runsInProgress returns the runs in progress, the newest first. Part of what is asked of them is user code, which must
// not be called under mu.
func (ex *executor) runsInProgress() []*Run {
	ex.mu.Lock()
	defer ex.mu.Unlock()
	return ex.listRuns()
}

// waiting returns the number of tasks that hold no worker, and has no effect on the run.
func (r *Run) waiting() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.body.progress().Waiting
}

// sleeps reports whether the worker's thread is known to sleep in the kernel.
func sleeps(w *Worker) bool {
	asleep, _ := osthread.Asleep(w.thread.inUse())
	return asleep
}
