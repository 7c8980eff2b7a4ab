package graph

import (
	"context"
	"fmt"
	"slices"

	"github.com/magpie-go/magpie/internal/plan"
)

// Module adds a task that stands for the whole of another graph: it begins with the tasks of sub that have no predecessor,
// and ends with those that have no successor. The same graph may stand for several tasks, of one graph or of many, and be
// run by itself too. What is run is what sub is when the run begins: its plan is copied for the first run after a change. A
// run of g is one of sub, which must not be changed meanwhile.
//
// A failure of a task of sub is a [*TaskError] with the name of sub; if sub has conditions, or the module's task a limit, it is
// run as a whole, and that error is within one of the module's task. It panics if sub is nil, or contains g.
func (g *Graph) Module(sub *Graph) Task {
	if sub == nil {
		panic(fmt.Sprintf("graph %q: the graph of module %d is nil", g.name, len(g.funcs)))
	}
	if sub.contains(g) {
		panic(fmt.Sprintf("graph %q: module %q contains this graph: a graph cannot be a part of itself", g.name, sub.name))
	}
	t := g.Task(noTask)
	if g.modules == nil {
		g.modules = make(map[uint32]*Graph)
	}
	g.modules[t.index] = sub
	return t.Named(sub.name)
}

// noTask is the function of tasks that only keep an order.
func noTask(context.Context) error { return nil }

// contains reports whether other is g or a module of it, however deep.
func (g *Graph) contains(other *Graph) bool {
	if g == other {
		return true
	}
	for _, sub := range g.modules {
		if sub.contains(other) {
			return true
		}
	}
	return false
}

// A copied module is so many tasks of the plan from first on: those of the module's plan and, unless that ends with one task
// anyhow, one more that all of them precede.
type copied struct {
	first uint32
	task  uint32 // the module's own, in the graph that it is a module of
	use
	tasks int // in the plan
}

// A use is a graph of which there are modules, and its plan when they were made.
type use struct {
	graph *Graph
	plan  *plan.Plan
}

// unfold returns the tasks and edges of g with those of its modules. A module's own task precedes the copy, and the last task
// of the copy, or a further one behind it, takes over its edges. The caller holds mu, and no graph is a part of itself.
func (g *Graph) unfold() (funcs []plan.Func, edges []plan.Edge, err error) {
	funcs = slices.Clone(g.funcs)
	exits := make(map[uint32]uint32)
	used := make(map[*Graph]bool)
	for i := range uint32(len(g.funcs)) {
		sub := g.modules[i]
		if sub == nil {
			continue
		}
		p, err := sub.freeze()
		if err != nil {
			return nil, nil, fmt.Errorf("graph %q: module %q: %w", g.name, sub.name, err)
		}
		if !used[sub] {
			used[sub] = true
			g.uses = append(g.uses, use{sub, p})
		}
		if p.Chooses != nil || g.limits[i] != nil {
			// What of it runs is not known before, so that nothing could come after all of it; or there are permits, to be
			// held for all of it.
			g.nested = append(g.nested, copied{task: i, use: use{sub, p}})
			continue
		}
		first := len(funcs)
		if first+p.Len()+1 > plan.Max {
			return nil, nil, fmt.Errorf("graph %q: with its modules it has more than %d tasks: split it", g.name, plan.Max)
		}
		funcs = append(funcs, p.Funcs...)
		exit, single := onlySink(p)
		if exit += uint32(first); !single {
			exit = uint32(len(funcs))
			funcs = append(funcs, noTask)
		}
		exits[i] = exit
		g.copies = append(g.copies, copied{uint32(first), i, use{sub, p}, len(funcs) - first})
		for _, s := range p.Sources {
			edges = append(edges, plan.Edge{From: i, To: uint32(first) + s})
		}
		for t := range uint32(p.Len()) {
			for _, s := range p.Successors(t) {
				edges = append(edges, plan.Edge{From: uint32(first) + t, To: uint32(first) + s})
			}
			if !single && len(p.Successors(t)) == 0 {
				edges = append(edges, plan.Edge{From: uint32(first) + t, To: exit})
			}
		}
		if p.Len() == 0 {
			edges = append(edges, plan.Edge{From: i, To: exit})
		}
		g.backward = true // exits come behind what they precede
	}
	for _, e := range g.edges {
		if exit, ok := exits[e.From]; ok {
			e.From = exit
		}
		edges = append(edges, e)
	}
	return funcs, edges, nil
}

// onlySink is the task of p that alone has no successor.
func onlySink(p *plan.Plan) (sink uint32, single bool) {
	for t := range uint32(p.Len()) {
		if len(p.Successors(t)) == 0 {
			if single {
				return 0, false
			}
			sink, single = t, true
		}
	}
	return sink, single
}

// pin counts a run of g among those of its modules, which keeps them from being changed, or takes it back. The caller holds
// mu.
func (g *Graph) pin(runs int) {
	for _, u := range g.uses {
		u.graph.mu.Lock()
		u.graph.running += runs
		u.graph.pin(runs)
		u.graph.mu.Unlock()
	}
}

// isStale reports whether a module has been changed since its plan was copied.
func (g *Graph) isStale() bool {
	for _, u := range g.uses {
		if p, _ := u.graph.freeze(); p != u.plan {
			return true
		}
	}
	return false
}

// origin returns the graph that task i of the plan is of, and its index there. What stands behind the
// copy of a module is called by the number after its last.
func (g *Graph) origin(i uint32) (*Graph, uint32) {
	c, ok := g.copyAt(i)
	if !ok {
		return g, i
	}
	i -= c.first
	if int(i) >= c.plan.Len() {
		return c.graph, i
	}
	return c.graph.origin(i)
}

// copyAt returns the copy that task i of the plan is of, if it is of one.
func (g *Graph) copyAt(i uint32) (copied, bool) {
	at, found := slices.BinarySearchFunc(g.copies, i, func(c copied, i uint32) int { return int(int64(c.first) - int64(i)) })
	if !found {
		at--
	}
	if at < 0 {
		return copied{}, false
	}
	return g.copies[at], true
}
