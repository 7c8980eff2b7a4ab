package graph

import (
	"cmp"
	"slices"
)

// A failure is one of a task, which may have several: its own, those of its detached subflow, and that of its Release.
type failure struct {
	task uint32
	err  *TaskError
}

// failures are those of a run.
type failures struct {
	all   []failure
	tasks map[uint32]bool // the tasks that have failed
}

// fail keeps the error of a task that has not counted its successors down, and stops the run, or has the tasks skipped
// that come after this one.
func (r *runState) fail(t *record, err error) {
	if i := r.index(t); r.failAs(i, err, false) {
		r.skipAfter(i, i)
	}
}

// failLate keeps the error of a task whose successors may have begun, and stops the run unless it keeps going. The task
// may have failed before.
func (r *runState) failLate(task uint32, err error) { r.failAs(task, err, true) }

// failAs is the common part of fail and failLate, which says late. It reports whether err is a failure of the task, and
// not only why the run was stopped.
func (r *runState) failAs(task uint32, err error, late bool) bool {
	failed := r.graph.newTaskError(task, err)
	if r.part.of == nil {
		failed.Run = r.Run().Name()
	}
	if !r.keep(failure{task, failed}, err, late) {
		return false
	}
	if r.keeping == nil {
		r.Run().Abort(failed) // without the lock: it calls OnStop of other layers
	}
	return true
}

// keep records the failure with err of a task, unless it only says why the run was stopped. A late one does not count
// if the task has failed before.
func (r *runState) keep(f failure, err error, late bool) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.Run().Repeats(err) {
		return false
	}
	of := r.failures.Get()
	if of == nil {
		of = &failures{tasks: make(map[uint32]bool)}
		r.failures.Set(of)
	}
	of.all = append(of.all, f)
	if !late || !of.tasks[f.task] {
		r.failed.Add(1)
	}
	of.tasks[f.task] = true
	return true
}

// whySkipped returns the failure for which task i is skipped, which comes after it, or nil if the run is stopped.
func (r *runState) whySkipped(i uint32) error {
	cause := r.causeOf(i)
	if cause == 0 {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, f := range r.failures.Get().all { // there is one: keep comes before skipAfter
		if f.task == cause-1 {
			return f.err
		}
	}
	return nil
}

// errors returns the errors with which a run ends in which these tasks have failed.
func (r *runState) errors(failures []failure) (errs []error) {
	slices.SortFunc(failures, func(a, b failure) int { return cmp.Compare(a.task, b.task) })
	if r.keeping != nil && r.part.of == nil {
		return []error{r.report(failures)}
	}
	for _, f := range failures {
		errs = append(errs, f.err)
	}
	return errs
}
