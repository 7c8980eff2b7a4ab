package graph

import "github.com/magpie-go/magpie/executor"

// oneWorker is what a worker between Enter and Leave counts in runState.left, where tasks and spans count 1. So one
// load tells both numbers. There are fewer tasks and spans than that, since there are at most plan.Max tasks.
const oneWorker = 1 << 40

var _ executor.Progresser = (*runState)(nil)

// Progress implements executor.Progresser. A span that is not yet found empty counts as a task that is left. So Done is
// less than the number of tasks that have ended by as much as there are spans under way: about one for each worker or,
// where many successors have been released at once, one for every eight of them at worst.
func (r *runState) Progress() (p executor.Progress) {
	units := r.left.Load()
	p.Running = int(units / oneWorker)
	p.Left = units % oneWorker // tasks, spans and the root
	p.Waiting = r.later.Load()
	if r.isDynamic() {
		for l := range r.allLocals() {
			p.Done += int64(l.told.Load())
		}
		return p
	}
	p.Total = int64(r.plan.Tasks())
	p.Left = min(p.Left, p.Total)
	p.Done = p.Total - p.Left
	return p
}

// mayBegin is called before a task begins in a run that is stopped or watched. It reports whether the task may begin.
func (r *runState) mayBegin(w *executor.Worker) bool {
	if r.Stopped() {
		return false
	}
	l := r.local(w)
	l.told.Store(l.ran)
	if l.done > 0 {
		r.left.Out(l.done) // not the end: the worker is counted
		l.done = 0
	}
	return true
}

// runDisturbed is runTask in a run that is stopped or watched.
func (r *runState) runDisturbed(w *executor.Worker, t *record) *executor.Item {
	if r.mayBegin(w) {
		if err := t.fn(r.ctx.Get()); err != nil {
			r.fail(t, err)
		}
	}
	l := r.local(w)
	l.done++
	return r.release(w, l, t)
}
