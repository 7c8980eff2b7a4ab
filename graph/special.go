package graph

import "github.com/magpie-go/magpie/executor"

// A special is the work of a task that does more than call a func(context.Context) error.
type special interface {
	// run does the work of task i of the plan.
	run(w *executor.Worker, r *runState, i uint32) error
}

func (g *Graph) addSpecial(s special) Task {
	t := g.Task(noTask)
	if g.special == nil {
		g.special = make(map[uint32]special)
	}
	g.special[t.index] = s
	g.chooses = g.chooses || isChoice(s)
	return t
}

// An apart is a module that is run as a whole.
type apart struct{ sub *Graph }

func (m apart) run(w *executor.Worker, r *runState, _ uint32) error {
	return w.Executor().Run(r.ctx.Get(), m.sub)
}

// execSpecial runs a task with a special, and counts it done.
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
