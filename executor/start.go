package executor

import "context"

// Run runs a job and waits for its end, as Start and [Run.Wait] do. The error is nil if every task ran and returned
// nil. The package documentation says what else it can be.
//
// A caller from outside runs the first tasks itself if a worker sleeps, on its own goroutine and in the worker's place,
// unless [Config].Callers is [IdleCallers] or another field of it has the same effect. These tasks have the caller's
// profiler labels. Labels that they set and do not restore stay with the caller, and an observer that sets labels
// leaves the caller with those of ctx. If a task on the caller calls [runtime.Goexit], that ends the caller, whose
// deferred calls are made when the run is over.
func (ex *Executor) Run(ctx context.Context, j Job) error {
	ex.mustBeMade()
	here := workerHere()
	w := ex.workerFrom(here)
	r, first := ex.prepare(ctx, ex, j, w, w.run(), false)
	if first != nil && (here != nil || !ex.attached.offer(r, first)) {
		r.show(first, w)
	}
	if r.over.Load() {
		return r.err.Get()
	}
	return r.wait(w, r.ctx.labels) // as pprof.Do does, take it that the calling task has the labels of its ctx
}

// Start starts a job and returns without waiting for its end. Cancelling ctx cancels the run. If the run cannot start,
// because the executor is closed, the context cancelled or the job invalid, it is over at once, and its Wait returns
// the error.
//
// A run that is started from a task of the same executor is nested in that task's run.
//
// With a [Config.MaxRuns], Start called from outside waits for room, or for ctx's end, before it starts the run. So the
// caller is slowed down to the pace of the executor, and no error appears only under load. [Executor.TryStart] does not
// wait. Start, TryStart and Run panic if ctx or j is nil.
func (ex *Executor) Start(ctx context.Context, j Job) *Run {
	ex.mustBeMade()
	w := ex.currentWorker()
	return ex.launch(ctx, ex, j, w, w.run(), false)
}
