package executor

import "context"

// FromContext returns the executor that runs the task to which ctx was given, so that a task need not capture it. ctx
// may be derived from the task's context, may be that of a [Run], a [Scope] or a [Group], and may have ended. If
// several executors are around ctx, FromContext returns the innermost. If there is none it returns nil and false. It
// allocates nothing, and costs some nanoseconds for each level of derived contexts.
func FromContext(ctx context.Context) (*Executor, bool) {
	if ctx == nil {
		panic("executor: FromContext needs a context, got nil")
	}
	ex, ok := ctx.Value(executorKey{}).(*Executor)
	return ex, ok
}

// WorkerIndex returns the index of the worker of ex that the caller runs on, from 0 to [Executor.WorkersAndSpares]-1,
// or -1 if the caller runs on none, as a goroutine that a task starts does. The indices of spares come last.
//
// A task has one index from its beginning to its end. No two tasks have an index at the same time, unless one of them
// waits, in a Run, Wait or Join, and its worker runs the other meanwhile. So an index may select what a task needs for
// itself: see [PerWorker]. It costs some 10 ns on Linux/amd64. [Scope.WorkerIndex] costs less.
func (ex *Executor) WorkerIndex() int {
	ex.mustBeMade()
	if w := ex.currentWorker(); w != nil {
		return w.id
	}
	return -1
}

// WorkersAndSpares returns the number of workers, spare ones included: [Executor.Workers] plus [Config.Spares], as New
// has chosen them. It is constant.
func (ex *Executor) WorkersAndSpares() int {
	ex.mustBeMade()
	return len(ex.roster)
}
