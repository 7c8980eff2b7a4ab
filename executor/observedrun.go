package executor

import (
	"context"
	"runtime"
	"runtime/debug"
)

// Observed reports whether the executor has observers of tasks. The job must then use CallTask for each task. It is
// constant.
func (r *JobRun) Observed() bool { return executorOf(r.core).observers.tellsTasks() }

// CallTask tells the observers that w, the calling worker, is about to run the task, calls fn with the context for it,
// and tells them how it has ended, also if it panics. It returns what fn returns. The run must be Observed.
func (r *JobRun) CallTask(w *Worker, task *TaskInfo, fn func(context.Context) error) error {
	return callTask(w, &r.Run, task, r.ctx, fn)
}

// tellSkip tells the observers that the task is not run, and why, see SkipTask.
func (r *JobRun) tellSkip(w *Worker, task *TaskInfo, cause error) {
	if cause == nil {
		cause = r.whyStopped()
	}
	executorOf(r.core).observers.tellTask(onTaskSkip, w, &r.Run, task, r.ctx, cause)
}

// callTask is CallTask for a task of run, which is nil for an Async, with this context.
func callTask(w *Worker, run *Run, task *TaskInfo, ctx context.Context, fn func(context.Context) error) error {
	o := executorOf(w.core).observers
	if len(o.of[onTaskBegin]) > 0 {
		ctx = o.tellTask(onTaskBegin, w, run, task, ctx, nil)
	}
	if len(o.of[onTaskEnd]) == 0 {
		return fn(ctx)
	}
	returned := false
	defer func() {
		if !returned {
			o.endFailed(w, run, task, ctx, recover())
		}
	}()
	err := fn(ctx)
	returned = true
	o.tellTask(onTaskEnd, w, run, task, ctx, err)
	return err
}

// endFailed tells the end of a task that has panicked with value, or has called Goexit if value is nil, and goes on
// with the panic or the Goexit. The panic has the name of its job before an observer, and so another thread, knows it.
func (o *observers) endFailed(w *Worker, run *Run, task *TaskInfo, ctx context.Context, value any) {
	if value == nil {
		o.tellTask(onTaskEnd, w, run, task, ctx, ErrGoexit)
		runtime.Goexit() // recover has ended a panic(nil), with GODEBUG=panicnil=1
	}
	err := w.core.attached.failure(w, value)
	if err == nil {
		err = inJob(&PanicError{Value: value, Stack: debug.Stack()}, task.Set.panics)
	}
	o.tellTask(onTaskEnd, w, run, task, ctx, err)
	partsOf(w).observed.thrown.throw(err)
}

// An observedWorker is a worker with observers. It has one Event for all of its tasks, since a function of an observer
// runs no task.
type observedWorker struct {
	Event
	thrown thrown // the failure of a task
}

// observe returns the part of worker i; nil without observers.
func (o *observers) observe(i int) *observedWorker {
	if o == nil {
		return nil
	}
	return &observedWorker{Event: Event{Worker: i}}
}

// tellTask tells an event of a task on w, and returns the event's context. The frame shows in stacks, see
// taskCallFrame.
//
//go:noinline
func (o *observers) tellTask(
	kind eventKind, w *Worker, run *Run, task *TaskInfo, ctx context.Context, err error,
) context.Context {
	e := &partsOf(w).observed.Event
	e.Run, e.Task, e.Context, e.Err, e.timed = run, task, ctx, err, false
	o.of[kind].tell(e)
	if e.Context != nil {
		ctx = e.Context
	}
	if kind != onTaskBegin || len(o.of[onTaskEnd]) == 0 { // else the end follows, and the task keeps all of them alive
		e.Run, e.Task, e.Context, e.Err = nil, nil, nil, nil
	}
	return ctx
}
