package graph

import "github.com/magpie-go/magpie/executor"

// A special is what a task does that is more than to call a function of a context.
type special interface {
	// run does it, for task i of the plan.
	run(w *executor.Worker, r *runState, i uint32) error
}

func (g *Graph) addSpecial(s special) Task {
	t := g.Task(noTask)
	if g.special == nil {
		g.special = make(map[uint32]special)
	}
	g.special[t.index] = s
	return t
}

// specialAt is what task i of the plan does if that is special, or nil.
func (g *Graph) specialAt(i uint32) special {
	owner, own := g.origin(i)
	if s := owner.special[own]; s != nil {
		return s
	}
	for _, c := range owner.nested {
		if c.task == own {
			return nestedModule{c.graph}
		}
	}
	return nil
}

// A nestedModule is a module that is not copied.
type nestedModule struct{ sub *Graph }

func (m nestedModule) run(w *executor.Worker, r *runState, _ uint32) error {
	return w.Executor().Run(r.ctx.Get(), m.sub)
}

// hasSpecial reports whether g or a module of it has any such task.
func (g *Graph) hasSpecial() bool {
	if g.special != nil || g.nested != nil {
		return true
	}
	for _, c := range g.copies {
		if c.graph.hasSpecial() {
			return true
		}
	}
	return false
}

// execSpecial runs such a task, and counts it done.
func execSpecial(w *executor.Worker, it *executor.Item) *executor.Item {
	t := recordOf(it)
	r := stateOf(it.Body)
	i := r.index(t)
	r.arm(t, i)
	if !r.Stopped() {
		if err := r.special[i].run(w, r, i); err != nil {
			r.fail(t, err)
		}
	}
	l := &r.locals[w.ID()]
	l.done++
	return r.release(w, l, t)
}
