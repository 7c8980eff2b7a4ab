package graph

import "github.com/magpie-go/magpie/executor"

// A form says how an executor runs the records of a run. Records that are used again on an executor that needs another
// form are made over.
type form struct {
	spans    bool // many successors are released as spans: the records with succSpan are for that
	observed bool // the executor has observers, which are told of each task
}

// setForm gives the records the form for the next run.
func (r *runState) setForm(f form) {
	if r.form != f { // seldom: the last run was on an executor that needs another form
		r.reform(f)
	}
}

func (r *runState) reform(f form) {
	r.setUp(f)
	for i := range r.plan.Len() {
		t := &r.records[i]
		t.Exec, t.succ = r.formOf(uint32(i))
	}
	r.limit()
}

// setUp sets the form, before the records are given it.
func (r *runState) setUp(f form) {
	r.form, r.observed = f, nil
	if f.observed {
		r.observed = r.graph.taskSet().Tasks
	}
}

// formOf returns the Exec of task i's record, as if the task had no limits, and its succ.
func (r *runState) formOf(i uint32) (exec, uint32) {
	return r.execOf(i), r.succOf(i)
}

// limit puts execLimited before the Execs of the tasks that need permits.
func (r *runState) limit() {
	for i, limits := range r.graph.layout.limits {
		t := &r.records[i]
		one := t.Exec
		if !r.isDynamic() && r.special.of(i) == nil {
			one = r.execs().one
		}
		r.limited[i] = limited{one, limits, isAcross(limits)}
		t.Exec = execLimited
	}
}

// execOf returns the Exec of task i if it needs no permits.
func (r *runState) execOf(i uint32) exec {
	execs := r.execs()
	switch {
	case r.isDynamic():
		return execs.dynamic
	case r.special.of(i) != nil:
		return execs.special
	case r.plan.Join[i] > 1:
		return execs.join
	}
	return execs.task
}

type exec = func(*executor.Worker, *executor.Item) *executor.Item

func (r *runState) execs() *execs {
	if r.form.observed {
		return &observedExecs
	}
	return &plainExecs
}

// execs are the Execs of tasks. Those for dynamic and special tasks, and one, which is for tasks that need permits, run
// no task after the item's.
type execs struct {
	task, join, one, special, dynamic exec
}

var (
	plainExecs    = execs{execTask, execJoin, execOne, execSpecial, execDynamic}
	observedExecs = execs{execObserved, execJoinObserved, execJoinObserved, execSpecialObserved, execDynamicObserved}
)

// succOf returns the succ of task i's record.
func (r *runState) succOf(i uint32) uint32 {
	succ := r.plan.Successors(i)
	count := uint32(len(succ))
	switch {
	case r.form.spans && len(succ) >= minSpan && r.plan.OnlyPredecessor(succ):
		count = succSpan
	case len(succ) >= min(succMany, minSpan+1): // minSpan is small in model programs only
		count = succMany
	}
	return r.plan.Off[i] | count<<succShift
}
