package graph

import (
	"context"

	"github.com/magpie-go/magpie/executor"
)

// A subflow builds a graph while it runs.
type subflow func(ctx context.Context, sub *Graph) error

// Subflow adds a task whose work is a graph that is not known before: fn adds tasks to sub, which are run when it returns.
// What comes after the task comes after all of them. The graph is built anew each time. Subflows may be in subflows, some
// thousand deep: beyond that a worker's stack would not last, and the run fails with [executor.ErrTooDeep].
//
// If fn returns an error nothing of sub is run. A failure of a task of sub is a [*TaskError] within that of the subflow's
// task. sub must not be used after fn has returned. It panics if fn is nil.
func (g *Graph) Subflow(fn func(ctx context.Context, sub *Graph) error) Task {
	if fn == nil {
		g.nilFunction()
	}
	return g.addSpecial(subflow(fn))
}

func (fn subflow) run(w *executor.Worker, r *runState, i uint32) error {
	owner, own := r.graph.origin(i)
	ctx := r.ctx.Get()
	sub := New(owner.ownName(own))
	if err := fn(ctx, sub); err != nil {
		return err
	}
	if sub.Len() == 0 {
		return nil
	}
	return w.Executor().Run(ctx, sub)
}
