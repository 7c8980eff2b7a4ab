package executor

import "context"

// Observed reports whether the executor has observers of tasks. The job must then call CallTask, or BeginTask and
// EndTask, for each task. It is constant, so a job can choose the Exec of its items by it and save the calls.
func (r *JobRun) Observed() bool { return executorOf(r.core).observers.tellsTasks() }

// CallTask is BeginTask, a call of fn with the run's context, and EndTask, at a lower price. It returns what fn
// returns. The run must be Observed.
func (r *JobRun) CallTask(w *Worker, task *Task, fn func(context.Context) error) (err error) {
	o := executorOf(r.core).observers
	at := 0 // the number of calls that have returned; fn comes between the two lists
	// One deferred call contains the panics of all observers.
	defer func() {
		switch begins, ends := o.taskBegin, o.taskEnd; {
		case at > len(begins)+len(ends):
		case at > len(begins):
			at -= len(begins) + 1
			ends[at].of.fail(recover())
			ends[at+1:].tell(w.id, &r.Run, task)
		case at == len(begins): // the failure is the task's
			r.EndTask(w, task)
		default:
			begins[at].of.fail(recover())
			begins[at+1:].tell(w.id, &r.Run, task)
			defer r.EndTask(w, task)
			err = fn(&r.ctx)
		}
	}()
	for i := range o.taskBegin {
		o.taskBegin[i].tell(w.id, &r.Run, task)
		at++
	}
	err = fn(&r.ctx)
	at++
	for i := range o.taskEnd {
		o.taskEnd[i].tell(w.id, &r.Run, task)
		at++
	}
	return err
}

// BeginTask tells the observers that w, the calling worker, is about to call the function of the task. EndTask must
// follow on the same worker, also if the function does not return, so it is best deferred. Neither fails the task.
func (r *JobRun) BeginTask(w *Worker, task *Task) {
	if o := executorOf(r.core).observers; o != nil {
		o.beginTask(w.id, &r.Run, task)
	}
}

// EndTask tells the observers that the function of the task has ended.
func (r *JobRun) EndTask(w *Worker, task *Task) {
	if o := executorOf(r.core).observers; o != nil {
		o.endTask(w.id, &r.Run, task)
	}
}
