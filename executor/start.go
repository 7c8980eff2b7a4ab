package executor

import "context"

// Run runs a job and waits for its end, as [Executor.Start] and [Run.Wait] do. The error is nil if every task ran and
// returned nil. The package documentation says what else it can be.
//
// A caller from outside runs the first tasks itself if a worker sleeps, on its own goroutine and in the worker's place,
// unless callers are idle, see [Config].Callers. These tasks have the caller's profiler labels, and may leave it with
// other labels. If a task on the caller calls [runtime.Goexit], that ends the caller, whose deferred calls are made
// when the run is over.
func (ex *Executor) Run(ctx context.Context, j Job) error {
	ex.mustBeMade()
	here := workerHere()
	if here == nil && isLight(j) {
		if r := ex.kept.take(ex); r != nil {
			defer r.leave()
			return ex.runFrom(ctx, ex, r.of(ex, j), nil)
		}
	}
	return ex.runFrom(ctx, ex, j, here)
}

// Start starts a job and returns without waiting for its end. Cancelling ctx cancels the run. If the run cannot start,
// because the executor is closed, the context cancelled or the job invalid, it is over at once, and its Wait returns
// the error. A run that a task of the same executor starts is nested in the task's run. With a [Config.MaxRuns], Start
// called from outside first waits for room, or for ctx's end. [Executor.TryStart] does not.
func (ex *Executor) Start(ctx context.Context, j Job) *Run {
	ex.mustBeMade()
	w := ex.currentWorker()
	return ex.launch(ctx, ex, j, w, w.run(), false)
}
