package graph

import (
	"context"

	"github.com/magpie-go/magpie/executor"
)

// A subflow builds a graph while it runs.
type subflow func(ctx context.Context, sub *Graph) error

// Subflow adds a task whose work is a graph that is not known before: fn adds tasks to sub, which are run when it
// returns. What comes after the task comes after all of them. The graph is built anew each time. Subflows may be in
// subflows, some thousand deep: beyond that a worker's stack would not last, and the run fails with
// [executor.ErrTooDeep]. Each level stands on the stack of a worker until what is in it has ended, and asks whether one
// of those around it was cancelled. What goes deeper, as the walk of a long list does, is for [Graph.DetachedSubflow],
// or for a loop: see [Graph.Condition].
//
// If fn returns an error nothing of sub is run. A failure of a task of sub is a [*TaskError] within that of the subflow's
// task. sub must not be used after fn has returned. It panics if fn is nil.
func (g *Graph) Subflow(fn func(ctx context.Context, sub *Graph) error) Task {
	if fn == nil {
		g.nilFunction()
	}
	return g.addSpecial(subflow(fn))
}

// DetachedSubflow adds a task like [Graph.Subflow], except that what comes after the task comes after fn only: the tasks of sub
// run beside it, and only the run, or the subflow that the task is in, waits for them. Their failures are those of the task.
// One that is in a detached subflow itself is a part of what that is a part of, so that each may start the next without end.
// It panics if fn is nil.
func (g *Graph) DetachedSubflow(fn func(ctx context.Context, sub *Graph) error) Task {
	if fn == nil {
		g.nilFunction()
	}
	return g.addSpecial(detached(fn))
}

func (fn subflow) run(w *executor.Worker, r *runState, i uint32) error {
	sub, err := fn.build(r, i)
	if err != nil || sub.Len() == 0 {
		return err
	}
	return w.Executor().Run(r.ctx.Get(), sub)
}

func (fn subflow) build(r *runState, i uint32) (*Graph, error) {
	owner, own := r.graph.origin(i)
	sub := New(owner.ownName(own))
	return sub, fn(r.ctx.Get(), sub)
}

// A detached subflow counts in left of the run that it is part of, from before its graph begins until it has ended.
type detached subflow

func (fn detached) run(_ *executor.Worker, r *runState, i uint32) error {
	sub, err := subflow(fn).build(r, i)
	if err != nil || sub.Len() == 0 {
		return err
	}
	part := r.part
	if part.of == nil {
		part = detachedPart{r, i}
	}
	part.of.left.In(1) // what calls this holds a unit there
	job := &detachedJob{Graph: sub, part: part}
	defer func() { // also if the caller's context panics
		if !job.begun {
			part.of.left.Out(1) // not the end, for the same reason
		}
	}()
	run := part.of.Run().StartWithin(part.of.ctx.Get(), job)
	if !job.begun {
		return run.Wait()
	}
	return nil
}

// A detachedPart is the run that a detached subflow is a part of, and the task that it comes from there.
type detachedPart struct {
	of   *runState
	task uint32
}

// ended ends the part with the result of its run. On any worker.
func (p detachedPart) ended(err error) {
	if err != nil {
		p.of.fail(&p.of.records[p.task], err)
	}
	if p.of.left.Out(1) {
		p.of.finish()
	}
}

// A detachedJob is a graph that is run as a part.
type detachedJob struct {
	*Graph
	part  detachedPart
	begun bool
}

// Begin implements executor.Job.
func (j *detachedJob) Begin(run *executor.JobRun) (*executor.Item, error) {
	first, err := j.Graph.Begin(run)
	if first != nil {
		j.begun = true
		stateOf(first.Body).part = j.part
	}
	return first, err
}
