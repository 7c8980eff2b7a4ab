package executor

import (
	"context"
	"runtime/pprof"
	"strconv"
)

// A task has the profiler labels of the context that its run was started with. If that context has none, the task has
// the worker's own: the executor's name and the worker's number. A worker sets labels when it turns to another run, not
// at every task. A guest's tasks have the labels of its goroutine.
//
// The runtime does not tell a goroutine's labels, so a worker does not know which labels a task has set by itself. It
// therefore sets labels whenever it leaves a run. After it has run items on top of a waiting task, it restores the
// labels that the task should have: in Executor.Run those of the context that the task has passed, in other waits those
// of the task's run or future.

// labels are the profiler labels of a worker's goroutine. Owner only, plain.
type labels struct {
	set context.Context // holds the labels that the worker has set last
	own context.Context // holds the labels of a worker that runs no task; nil for an inline worker
	// apply gives the goroutine the labels of ctx, and tells the observers if any wants to know; nil for an inline
	// worker.
	apply func(ctx context.Context)
}

// labelsOf returns a context that has the labels of ctx and finds them without a search, or nil if ctx has none.
func labelsOf(ctx context.Context) context.Context {
	if c, ok := ctx.(*taskContext); ok {
		return c.labels // Value would make a standard context
	}
	labelled := false
	pprof.ForLabels(ctx, func(string, string) bool { labelled = true; return false })
	if !labelled {
		return nil
	}
	return pprof.WithLabels(ctx, pprof.LabelSet{})
}

// labelThread gives the calling goroutine, which has just begun, the worker's own labels.
func (w *Worker) labelThread() {
	labels := pprof.Labels("executor", w.core.name, "worker", strconv.Itoa(w.id))
	w.labels.own = pprof.WithLabels(context.Background(), labels)
	w.labels.apply = pprof.SetGoroutineLabels
	if labelled := w.core.attached.labelled; len(labelled) > 0 {
		w.labels.apply = func(ctx context.Context) {
			pprof.SetGoroutineLabels(ctx)
			labelled.make(w)
		}
	}
	w.setLabels(w.labels.own)
}

// labelsFor returns labels or, if that is nil, the worker's own.
func (w *Worker) labelsFor(labels context.Context) context.Context {
	if labels == nil {
		return w.labels.own
	}
	return labels
}

// setLabels gives the worker's goroutine the labels of ctx. On an inline executor it does not: the goroutine is the
// caller's, and must keep its labels.
func (w *Worker) setLabels(ctx context.Context) {
	w.labels.set = ctx
	if w.labels.apply != nil {
		w.labels.apply(ctx)
	}
}
