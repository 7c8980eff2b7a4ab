package graph

import "github.com/magpie-go/magpie/executor"

// oneWorker is what a worker between Enter and Leave counts in runState.left, where tasks and spans count 1. So one
// load tells both numbers. There are fewer tasks and spans than that, since there are at most plan.Max tasks.
const oneWorker = 1 << 40

// Progress implements executor.Hooks. A span that is not yet found empty counts as a task that is left. So Done is
// less than the number of tasks that have ended by as much as there are spans under way: about one for each worker or,
// where many successors have been released at once, one for every eight of them at worst.
func (r *runState) Progress() (p executor.Progress) {
	units := r.left.Load()
	p.Running = int(units / oneWorker)
	p.Left = units % oneWorker // tasks, spans and the root
	p.Waiting = r.later.Load()
	p.Failed, p.Skipped = int64(r.failed.Load()), int64(r.skipped.Load())
	var ended int64
	if r.isDynamic() {
		for l := range r.allLocals() {
			ended += int64(l.told.Load())
		}
		p.Failed = min(p.Failed, ended) // it is told at once, and the others are not
		p.Done = ended - p.Failed
		return p
	}
	p.Total = int64(r.plan.Tasks())
	p.Left = min(p.Left, p.Total)
	ended = p.Total - p.Left
	p.Failed = min(p.Failed, ended)
	p.Skipped = min(p.Skipped, ended-p.Failed)
	p.Done = ended - p.Failed - p.Skipped
	return p
}

// mayBegin is called before task t begins in a run that is Disturbed. It reports whether the task may begin. Otherwise
// it is skipped, and counted so.
func (r *runState) mayBegin(w *executor.Worker, t *record) bool {
	l := r.local(w)
	if i := r.index(t); r.isSkipped(i) || r.Look() {
		l.skips++
		r.skip(w, i)
		return false
	}
	if !r.Watched() {
		return true
	}
	r.tellSkips(l)
	l.told.Store(l.ran)
	if l.done > 0 {
		r.left.Out(l.done) // not the end: the worker is counted
		l.done = 0
	}
	return true
}

// tellSkips makes visible what l has counted.
func (r *runState) tellSkips(l *local) {
	if l.skips != 0 {
		r.skipped.Add(l.skips)
		l.skips = 0
	}
}

// runDisturbed is runTask in a run that is Disturbed.
func (r *runState) runDisturbed(w *executor.Worker, t *record) *executor.Item {
	if r.mayBegin(w, t) {
		if err := t.fn(r.ctx.Get()); err != nil {
			r.fail(t, err)
		}
	}
	l := r.local(w)
	l.done++
	return r.release(w, l, t)
}
