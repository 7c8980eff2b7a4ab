package graph

import (
	"context"

	"github.com/magpie-go/magpie/executor"
)

// A subflow builds a graph while it runs.
type subflow func(ctx context.Context, sub *Graph) error

// Subflow adds a task that builds a graph while it runs: fn adds tasks to sub, which run when fn has returned. The
// successors of the task come after all of them. The graph is built anew each time.
//
// Subflows may be nested some thousand deep: beyond that a worker's stack would overflow, and the run fails with
// [executor.ErrTooDeep]. Each level stays on the stack of a worker until its tasks have ended, and checks whether an
// outer level was cancelled. For deeper nesting, as in the walk of a long list, use [Graph.DetachedSubflow], or a loop,
// see [Graph.Condition].
//
// If fn returns an error, no task of sub runs. A failure of a task of sub is a [*TaskError] that is wrapped in one of
// the subflow's task. sub must not be used after fn has returned. Subflow panics if fn is nil.
func (g *Graph) Subflow(fn func(ctx context.Context, sub *Graph) error) Task {
	if fn == nil {
		g.nilFunction()
	}
	return g.addSpecial(subflow(fn))
}

// DetachedSubflow adds a task like [Graph.Subflow], except that the successors of the task wait only for fn. The tasks
// of sub run beside them, and only the run, or the enclosing subflow, waits for the tasks of sub. Their failures are
// failures of the task. A detached subflow inside a detached subflow becomes a part of the same run or subflow, so each
// may start the next without end. DetachedSubflow panics if fn is nil.
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

// A detached subflow is counted in left of the run that it is part of, from before its graph begins until that has
// ended.
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

// A detachedPart is the run of which a detached subflow is a part, and the subflow's task in that run.
type detachedPart struct {
	of   *runState
	task uint32
}

// ended ends the part with the result of its run. Any worker.
func (p detachedPart) ended(err error) {
	if err != nil {
		p.of.fail(&p.of.records[p.task], err)
	}
	if p.of.left.Out(1) {
		p.of.finish()
	}
}

// A detachedJob is a graph that runs as a detached subflow.
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
