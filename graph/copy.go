package graph

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/magpie-go/magpie/internal/plan"
)

// Copies say which tasks of a graph are copies of which tasks of another. [Graph.Append] and [Graph.Clone] return them.
type Copies struct {
	from, to   *Graph
	first, n   uint32 // the copy of task i is first+i; there were n numbers in from
	newest     uint32 // the newest generation in from
	generation uint32 // of the copies
}

// Task returns the copy of a task. It panics if original is not a task of the graph that was copied, or was added or
// removed since. If the copy was removed, using it panics.
func (c Copies) Task(original Task) Task {
	g := original.owner("Copies.Task")
	if g != c.from {
		panic(fmt.Sprintf("graph %q: Copies.Task was given task %s, which is not of the graph that was copied",
			g.name, g.taskName(original.index)))
	}
	if original.index >= c.n || original.generation > c.newest {
		panic(fmt.Sprintf("graph %q: Copies.Task was given task %s, which was added after the copying",
			g.name, g.taskName(original.index)))
	}
	return Task{c.to, c.first + original.index, c.generation}
}

// In returns the value that the copy of v's task makes. It panics as [Copies.Task] does.
func (v Value[T]) In(c Copies) Value[T] { return Value[T]{c.Task(v.task)} }

// Append adds copies of all tasks of other to g, as if they were added by the same calls: with their functions, the
// edges between them, and their names, priorities, semaphores and values. Edges may then connect them to the other
// tasks of g. In contrast to a [Graph.Module], later changes of other do not change g, and failures are those of tasks
// of g. A module of other becomes a module of g. Functions, semaphores and the graphs of modules are shared, not
// copied. If two tasks of g then have the same given name, [Graph.MarshalJSON] fails.
//
// The copies are numbered after the tasks of g, in the same order. Numbers of removed tasks are copied too: the next
// tasks to be added get them, in the order in which tasks added to other would. other may run meanwhile, and may be g
// itself. Append panics if other is nil, or if a module of other contains g.
func (g *Graph) Append(other *Graph) Copies {
	g.change()
	if other == nil {
		panic(fmt.Sprintf("graph %q: Append of a nil graph", g.name))
	}
	for _, m := range other.modules {
		if !g.putAbove(m.graph) {
			panic(fmt.Sprintf("graph %q: module %q of the appended graph %q contains this graph: "+
				"a graph cannot be a part of itself", g.name, m.graph.name, other.name))
		}
	}
	edges := other.listedEdges()
	first := uint32(len(g.funcs))
	c := Copies{other, g, first, uint32(len(other.funcs)), other.removals.last, g.removals.cleared}
	for _, i := range other.removals.free { // the same order, which says what number the next task gets
		g.removals.free = append(g.removals.free, first+i)
	}
	g.funcs = append(g.funcs, other.funcs...)
	for _, e := range edges {
		g.addEdge(first+e.From, first+e.To)
	}
	g.names = withPlaced(g.names, other.names, first)
	g.limits = withPlaced(g.limits, other.limits, first)
	g.priorities = withPlaced(g.priorities, other.priorities, first)
	g.special.add(copiedSpecials(other.special, first), first)
	g.takers = withPlaced(g.takers, copiedTakers(other.takers, first), first)
	for _, m := range other.modules {
		g.addModule(module{first + m.task, m.graph})
	}
	g.chooses = g.chooses || other.chooses
	return c
}

// Clone returns a graph of that name with copies of all tasks, as [Graph.Append] makes them. They have the same numbers
// as the originals.
func (g *Graph) Clone(name string) (*Graph, Copies) {
	c := New(name)
	return c, c.Append(g)
}

// listedEdges returns the edges between g's own tasks. It may be called while g runs.
func (g *Graph) listedEdges() []plan.Edge {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case g.topology != nil:
		return g.topology.list(len(g.funcs))
	case g.modules == nil && g.plan != nil:
		return g.plan.EdgeList()
	}
	return g.edges
}

// withPlaced is place, with all made if need be and own perhaps the same.
func withPlaced[T any](all, own map[uint32]T, first uint32) map[uint32]T {
	if len(own) == 0 {
		return all
	}
	if all == nil {
		all = make(map[uint32]T, len(own))
	}
	place(all, maps.Clone(own), first)
	return all
}

// copiedSpecials returns the specials of copies whose numbers are larger by first. A task takes values by the numbers
// of the tasks that make them.
func copiedSpecials(own specials, first uint32) specials {
	own = slices.Clone(own)
	for i, s := range own {
		if takes, ok := s.(valueTask); ok && first > 0 {
			own[i] = valueTask(func(ctx context.Context, made []madeValue) (any, error) {
				return takes(ctx, made[first:])
			})
		}
	}
	return own
}

func copiedTakers(own map[uint32][]uint32, first uint32) map[uint32][]uint32 {
	own = maps.Clone(own)
	for i, all := range own {
		moved := make([]uint32, len(all))
		for n, t := range all {
			moved[n] = first + t
		}
		own[i] = moved
	}
	return own
}
