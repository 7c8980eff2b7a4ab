package observe

import (
	"context"
	"runtime/trace"
	"sync"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/internal/names"
	"github.com/magpie-go/magpie/internal/pad"
)

// RuntimeTrace returns an observer that makes runs and tasks visible in go tool trace, while a trace of [runtime/trace]
// is being taken. A run is a task there, with the job's name for its type, and each task is a region of it, with the
// task's name for its type. So the pages "User-defined tasks" and "User-defined regions" have latencies by job and by
// task. A run that was started with a context of a task of runtime/trace is a subtask of that.
//
// Runs that were begun before the trace are not in it. Their tasks are regions without a task, and so is an Async.
// While no trace is being taken, a task costs a few nanoseconds.
//
// The observer is for one executor at a time.
func RuntimeTrace() *executor.Observer {
	r := &runtimeTrace{}
	return &executor.Observer{
		Attach:    r.attach,
		Detach:    r.detach,
		RunBegin:  r.runBegin,
		RunEnd:    r.runEnd,
		TaskBegin: r.taskBegin,
		TaskEnd:   r.taskEnd,
		Park:      r.park,
	}
}

// runtimeTrace is the state of a RuntimeTrace.
type runtimeTrace struct {
	single
	workers slots[regions]
	runs    sync.Map // *executor.Run → *tracedRun, in progress, begun while a trace was being taken
}

type tracedRun struct {
	ctx  context.Context // the run's, with the task
	task *trace.Task
}

// regions are those of one worker. The worker only.
type regions struct {
	_     pad.Line
	begun []*trace.Region // of the tasks on the worker's stack; nil if there was no trace
	run   *executor.Run   // the last one
	ctx   context.Context // of run
	_     pad.Line
}

func (r *runtimeTrace) runBegin(e *executor.Event) {
	if trace.IsEnabled() {
		ctx, task := trace.NewTask(e.Run.Context(), names.Job(e.Run.Name()))
		r.runs.Store(e.Run, &tracedRun{ctx, task})
	}
}

func (r *runtimeTrace) runEnd(e *executor.Event) {
	if t, ok := r.runs.LoadAndDelete(e.Run); ok {
		t.(*tracedRun).task.End()
	}
}

func (r *runtimeTrace) taskBegin(e *executor.Event) {
	w := r.workers.of(e.Worker)
	if w == nil {
		w = &regions{ctx: context.Background()}
		r.workers.set(e.Worker, w)
	}
	var region *trace.Region
	if trace.IsEnabled() {
		if e.Run != w.run {
			w.run, w.ctx = e.Run, context.Background()
			if t, ok := r.runs.Load(e.Run); ok {
				w.ctx = t.(*tracedRun).ctx
			}
		}
		region = trace.StartRegion(w.ctx, names.Task(e.Task))
	}
	w.begun = append(w.begun, region)
}

func (r *runtimeTrace) taskEnd(e *executor.Event) {
	w := r.workers.of(e.Worker)
	if w == nil || len(w.begun) == 0 {
		return // the task was begun before the observer was switched on
	}
	n := len(w.begun) - 1
	region := w.begun[n]
	w.begun[n], w.begun = nil, w.begun[:n]
	if region != nil {
		region.End()
	}
}

// park makes the worker forget its last run, which it would keep alive.
func (r *runtimeTrace) park(e *executor.Event) {
	if w := r.workers.of(e.Worker); w != nil {
		w.run, w.ctx = nil, context.Background()
	}
}
