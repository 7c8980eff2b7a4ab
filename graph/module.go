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
// A failure of a task of sub is a [*TaskError] with the name of sub; if sub has conditions it is run as a whole, and that error
// is within one of the module's task. It panics if sub is nil, or contains g.
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

// A copied module is the tasks first, first+1, … of the plan, up to the next, and last of them one that all others precede.
type copied struct {
	first uint32
	graph *Graph
	plan  *plan.Plan // that was copied
}

// unfold returns the tasks and edges of g with those of its modules. A module's own task precedes the copy, and a further
// one behind the copy takes over its edges. The caller holds mu, and no graph is a part of itself.
func (g *Graph) unfold() (funcs []plan.Func, edges []plan.Edge, err error) {
	funcs = slices.Clone(g.funcs)
	exits := make(map[uint32]uint32)
	for i := range uint32(len(g.funcs)) {
		sub := g.modules[i]
		if sub == nil {
			continue
		}
		p, err := sub.freeze()
		if err != nil {
			return nil, nil, fmt.Errorf("graph %q: module %q: %w", g.name, sub.name, err)
		}
		if p.Chooses != nil {
			// What of it runs is not known before, so that nothing could come after all of it.
			g.nested = append(g.nested, copied{i, sub, p})
			continue
		}
		first := len(funcs)
		if first+p.Len()+1 > plan.Max {
			return nil, nil, fmt.Errorf("graph %q: with its modules it has more than %d tasks: split it", g.name, plan.Max)
		}
		g.copies = append(g.copies, copied{uint32(first), sub, p})
		funcs = append(append(funcs, p.Funcs...), noTask)
		exit := uint32(len(funcs) - 1)
		exits[i] = exit
		for _, s := range p.Sources {
			edges = append(edges, plan.Edge{From: i, To: uint32(first) + s})
		}
		for t := range uint32(p.Len()) {
			for _, s := range p.Successors(t) {
				edges = append(edges, plan.Edge{From: uint32(first) + t, To: uint32(first) + s})
			}
			if len(p.Successors(t)) == 0 {
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

// pin counts a run of g among those of its modules, which keeps them from being changed, or takes it back. The caller holds
// mu.
func (g *Graph) pin(runs int) {
	for _, c := range g.parts() {
		c.graph.mu.Lock()
		c.graph.running += runs
		c.graph.pin(runs)
		c.graph.mu.Unlock()
	}
}

// parts are the modules in the plan.
func (g *Graph) parts() []copied {
	if g.nested == nil {
		return g.copies
	}
	return slices.Concat(g.copies, g.nested)
}

// isStale reports whether a module has been changed since its plan was copied.
func (g *Graph) isStale() bool {
	for _, c := range g.parts() {
		if p, _ := c.graph.freeze(); p != c.plan {
			return true
		}
	}
	return false
}

// origin returns the graph that task i of the plan is of, and its index there. That a module's copy has ended is said in
// the name of the module's task.
func (g *Graph) origin(i uint32) (*Graph, uint32) {
	at, found := slices.BinarySearchFunc(g.copies, i, func(c copied, i uint32) int { return int(int64(c.first) - int64(i)) })
	if !found {
		at--
	}
	if at < 0 {
		return g, i
	}
	c := g.copies[at]
	i -= c.first
	if int(i) >= c.plan.Len() {
		return c.graph, i
	}
	return c.graph.origin(i)
}
