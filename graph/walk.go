package graph

import (
	"fmt"
	"iter"
)

// A Kind says by which method or function a task was added.
type Kind uint8

const (
	KindTask            Kind = iota // [Graph.Task]
	KindCondition                   // [Graph.Condition]
	KindMultiCondition              // [Graph.MultiCondition]
	KindSubflow                     // [Graph.Subflow]
	KindDetachedSubflow             // [Graph.DetachedSubflow]
	KindModule                      // [Graph.Module]
	KindValue                       // [Source], [Map], [Sink] and the others of a [Value]
	KindExternal                    // [Graph.External], [SourceExternal]
	KindRetry                       // [Graph.Retry]
)

var kindNames = [...]string{
	"task", "condition", "multi-condition", "subflow", "detached subflow", "module", "value task",
	"external task", "retried task",
}

// String returns the kind as [Graph.MarshalJSON] writes it, such as "multi-condition".
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return fmt.Sprintf("Kind(%d)", uint8(k))
}

// Tasks lists the tasks in the order of their numbers: that in which they were added, except that a task may have the
// number of one that was removed before. Tasks of modules are not among them. A loop over Tasks may change the graph:
// tasks that it adds may be missing, tasks that it removes before their turn are.
//
// Tasks and the methods of [Task] that walk a graph may be called while it runs, also by its tasks, from any number of
// goroutines, but not at the same time as changes. The first walk of a graph that has not run takes as long as
// [Graph.Validate].
func (g *Graph) Tasks() iter.Seq[Task] {
	return func(yield func(Task) bool) {
		for i := 0; i < len(g.funcs); i++ {
			if g.funcs[i] != nil && !yield(g.at(uint32(i))) {
				return
			}
		}
	}
}

// Graph returns the graph to which the task belongs.
func (t Task) Graph() *Graph { return t.owner("Graph") }

// Index returns the number of the task, by which errors call it if it has no name, as in #3.
func (t Task) Index() int {
	t.owner("Index")
	return int(t.index)
}

// Name returns the name by which errors and drawings call the task: the one given to [Task.Named], or the number,
// behind the name of the graph if the task is a module.
func (t Task) Name() string { return t.owner("Name").ownName(t.index) }

// Kind says what the task does.
func (t Task) Kind() Kind {
	g := t.owner("Kind")
	switch g.special.of(t.index).(type) {
	case nil:
		if g.moduleAt(t.index) >= 0 {
			return KindModule
		}
		return KindTask
	case oneOf:
		return KindCondition
	case someOf:
		return KindMultiCondition
	case subflow:
		return KindSubflow
	case detached:
		return KindDetachedSubflow
	case valueMaker, valueTask:
		return KindValue
	case external, externalMaker:
		return KindExternal
	case retried:
		return KindRetry
	}
	panic("graph: a task of no kind")
}

// ModuleGraph returns the graph that the task runs if it is a module, otherwise nil.
func (t Task) ModuleGraph() *Graph {
	g := t.owner("ModuleGraph")
	if at := g.moduleAt(t.index); at >= 0 {
		return g.modules[at].graph
	}
	return nil
}

// PriorityLevel returns what was given to [Task.Priority], or Normal.
func (t Task) PriorityLevel() Priority { return t.owner("PriorityLevel").priorities[t.index] }

// Acquires lists the semaphores given to [Task.Hold] and [Task.Acquire], in the order in which they were first given,
// with the number of permits that the task needs to begin.
func (t Task) Acquires() iter.Seq2[*Semaphore, int] {
	return t.permits("Acquires", func(l limit) int { return l.need })
}

// Releases lists the semaphores given to [Task.Hold] and [Task.Release] as Acquires does, with the number of permits
// that the task gives back at its end.
func (t Task) Releases() iter.Seq2[*Semaphore, int] {
	return t.permits("Releases", func(l limit) int { return l.back })
}

func (t Task) permits(method string, number func(limit) int) iter.Seq2[*Semaphore, int] {
	g := t.owner(method)
	return func(yield func(*Semaphore, int) bool) {
		for _, l := range g.limits[t.index] {
			if n := number(l); n > 0 && !yield(l.Semaphore, n) {
				return
			}
		}
	}
}

// Successors lists the tasks that t precedes, or among which it chooses, in the order in which the edges were added:
// those of a condition in the order of their indices. A task is listed as often as its edge was repeated. A loop over
// Successors may change the graph. It lists the tasks that were successors when it began, but for removed ones.
func (t Task) Successors() iter.Seq[Task] {
	t.owner("Successors")
	return func(yield func(Task) bool) { t.each(t.successors(), yield) }
}

// Predecessors lists the tasks that precede t, or that may choose it, in the order of their numbers, and otherwise as
// [Task.Successors] does. The first few calls in a graph look at all of its edges; then the graph keeps an index of
// four bytes a task and an edge, which is never made if Predecessors and NumPredecessors are never called.
func (t Task) Predecessors() iter.Seq[Task] {
	t.owner("Predecessors")
	return func(yield func(Task) bool) { t.each(t.predecessors(), yield) }
}

// NumSuccessors returns the number of tasks that [Task.Successors] lists.
func (t Task) NumSuccessors() int {
	t.owner("NumSuccessors")
	return len(t.successors())
}

// NumPredecessors returns the number of tasks that [Task.Predecessors] lists, and may take as long.
func (t Task) NumPredecessors() int {
	t.owner("NumPredecessors")
	return len(t.predecessors())
}

func (t Task) successors() []uint32 {
	t.graph.mu.Lock()
	defer t.graph.mu.Unlock()
	return t.graph.walkable().successors(t.index)
}

func (t Task) predecessors() []uint32 {
	t.graph.mu.Lock()
	defer t.graph.mu.Unlock()
	return t.graph.walkable().predecessors(t.index)
}

// each yields the tasks of t's graph with these numbers that are not removed meanwhile.
func (t Task) each(numbers []uint32, yield func(Task) bool) {
	g := t.graph
	newest := g.removals.last
	for _, i := range numbers {
		if s := g.at(i); g.has(s) && s.generation <= newest && !yield(s) {
			return
		}
	}
}
