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
		return g.Task(nil) // says what is wrong
	}
	t := g.Task(pass)
	if g.subflows == nil {
		g.subflows = make(map[uint32]subflow)
	}
	g.subflows[t.index] = fn
	return t
}

// execSubflow runs a subflow, and counts it done.
func execSubflow(w *executor.Worker, it *executor.Item) *executor.Item {
	t := recordOf(it)
	r := stateOf(it.Body)
	i := r.index(t)
	if join := r.plan.Join[i]; join > 1 {
		t.join.Arm(join) // see execJoin
	}
	if !r.Stopped() {
		if err := r.subflow(w, i); err != nil {
			r.fail(t, err)
		}
	}
	l := &r.locals[w.ID()]
	l.done++
	return r.release(w, l, t)
}

func (r *runState) subflow(w *executor.Worker, i uint32) error {
	owner, own := r.graph.origin(i)
	ctx := r.ctx.Get()
	sub := New(owner.ownName(own))
	if err := owner.subflows[own](ctx, sub); err != nil {
		return err
	}
	if sub.Len() == 0 {
		return nil
	}
	return w.Executor().Run(ctx, sub)
}

// subflowAt returns whether task i of the plan is a subflow.
func (g *Graph) subflowAt(i uint32) bool {
	owner, own := g.origin(i)
	return owner.subflows[own] != nil
}

// hasSubflows reports whether g or a module of it has any.
func (g *Graph) hasSubflows() bool {
	if g.subflows != nil {
		return true
	}
	for _, c := range g.copies {
		if c.graph.hasSubflows() {
			return true
		}
	}
	return false
}
