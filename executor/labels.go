package executor

import (
	"context"
	"runtime/pprof"
	"strconv"
)

// A task has the profiler labels of the context that its run was started with, as a goroutine has those of the one that
// starts it, or if that context has none, the worker's: the executor's name and the worker's number. A worker sets
// labels when it turns to another run, not at every task.
//
// A goroutine cannot be asked for its labels. A worker therefore does not know which labels a task has set by itself:
// it sets labels whenever it turns away from a run. After it has run items on top of a task that waits it restores what
// that task should have: in Executor.Run, the labels of the context that the task has given; in other waits those of
// its run or future.

// labels are those of a worker's goroutine. Owner only, plain.
type labels struct {
	set context.Context // as they were set last
	own context.Context // those of a worker that runs nothing; nil for an inline worker
}

// labelsOf returns a context that has the labels of ctx and finds them at once, or nil if ctx has none.
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

// labelThread gives the goroutine, which has just begun, the worker's own labels.
func (w *Worker) labelThread() {
	labels := pprof.Labels("executor", w.ex.cfg.Name, "worker", strconv.Itoa(w.id))
	w.labels.own = pprof.WithLabels(context.Background(), labels)
	w.setLabels(w.labels.own)
}

// labelsFor is labels or, if nil, the worker's own.
func (w *Worker) labelsFor(labels context.Context) context.Context {
	if labels == nil {
		return w.labels.own
	}
	return labels
}

// setLabels gives the worker's goroutine the labels of ctx. On an inline executor tasks have those of the calling
// goroutine, which must keep them.
func (w *Worker) setLabels(ctx context.Context) {
	w.labels.set = ctx
	if w.labels.own != nil {
		pprof.SetGoroutineLabels(ctx)
	}
}
