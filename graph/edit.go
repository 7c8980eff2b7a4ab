package graph

import (
	"fmt"
	"slices"

	"github.com/magpie-go/magpie/internal/hugepage"
	"github.com/magpie-go/magpie/internal/plan"
)

// removals tell the tasks that have been removed from those that have their numbers now.
type removals struct {
	free        []uint32          // numbers that no task has
	generations map[uint32]uint32 // of the numbers that were free since the last Clear
	cleared     uint32            // the generation of all other numbers
	last        uint32            // the largest generation in use
}

// has reports whether t is a task of g.
func (g *Graph) has(t Task) bool {
	return t.graph == g && (t.generation == g.removals.cleared && g.removals.generations == nil || g.isCurrent(t))
}

func (g *Graph) isCurrent(t Task) bool {
	return int(t.index) < len(g.funcs) && g.funcs[t.index] != nil && t == g.at(t.index)
}

// at returns the task with number i.
func (g *Graph) at(i uint32) Task {
	if n, ok := g.removals.generations[i]; ok {
		return Task{g, i, n}
	}
	return Task{g, i, g.removals.cleared}
}

// taskAgain adds a task with a free number.
func (g *Graph) taskAgain(fn plan.Func) Task {
	last := len(g.removals.free) - 1
	i := g.removals.free[last]
	g.removals.free = g.removals.free[:last]
	g.funcs[i] = fn
	g.removals.renew(i)
	if e := g.topology; e != nil {
		e.setRow(i, nil) // it exists again, and may be a task that chooses
	}
	return g.at(i)
}

// addTaker notes that task t takes the values that others make.
func (g *Graph) addTaker(t Task, makers []Task) {
	if len(makers) > 0 && g.takers == nil {
		g.takers = make(map[uint32][]uint32)
	}
	for _, m := range makers {
		g.takers[m.index] = append(g.takers[m.index], t.index)
	}
}

// Unprecede removes the edges from t to each of the others: it undoes [Task.Precede] and [Task.Succeed], however often
// they were repeated. If there is no such edge, nothing changes. If t is a condition, the successors behind the removed
// ones have smaller indices afterwards: they are again numbered from 0 in the order in which they were added. Unprecede
// takes time in proportion to the number of t's successors, and the first in a graph that has not run yet to the size
// of the graph. It panics if one of the others takes a [Value] that t makes: remove that task instead.
func (t Task) Unprecede(others ...Task) {
	g := t.owner("Unprecede")
	takes := make(map[uint32]bool)
	for _, i := range g.takers[t.index] {
		takes[i] = true
	}
	numbers := make([]uint32, len(others))
	for i, o := range others {
		if !g.has(o) {
			g.foreign(t, o, "Unprecede")
		}
		if takes[o.index] {
			panic(fmt.Sprintf("graph %q: Unprecede of task %s was given task %s, which takes its value: remove that task",
				g.name, g.taskName(t.index), g.taskName(o.index)))
		}
		numbers[i] = o.index
	}
	g.change()
	g.editable().remove(t.index, numbers)
}

// Remove removes the task, its edges, and what was said of it: its name, its priority and its limits. Its predecessors
// do not come to precede its successors. If it is a module, the graph of the module does not change.
//
// Any later use of the Task, or of another copy of it, panics. The other tasks keep their numbers. The next task to be
// added gets the number of the task that was removed last. The order in which tasks are listed, drawn and joined in
// errors is that of their numbers. Until a task has the number again, a TaskSet for observers has an entry without a
// name for it, which never runs.
//
// Remove looks at all edges of the graph if it is one of a few since the last run, and only at those of the task and of
// its neighbours if it is one of many. It panics if another task takes a [Value] that t makes: remove that task first.
func (t Task) Remove() {
	g := t.owner("Remove")
	i := t.index
	if takers := g.takers[i]; len(takers) > 0 {
		panic(fmt.Sprintf("graph %q: Remove of task %s, whose value task %s takes: remove that task first",
			g.name, g.taskName(i), g.taskName(takers[0])))
	}
	g.change()
	e := g.editable()
	preds := slices.Clone(e.predecessors(i))
	if g.takers != nil {
		for _, p := range preds {
			if left := without(g.takers[p], i); len(left) > 0 {
				g.takers[p] = left
			} else {
				delete(g.takers, p)
			}
		}
	}
	if e.hasManyRows(len(preds)) {
		g.listEdges()
		g.edges = slices.DeleteFunc(g.edges, func(e plan.Edge) bool { return e.From == i || e.To == i })
	} else {
		e.removeTask(i, preds)
	}
	if m := g.moduleAt(i); m >= 0 {
		if g.modules = slices.Delete(g.modules, m, m+1); len(g.modules) == 0 {
			g.modules = nil
		}
	}
	if was := g.special.of(i); was != nil {
		g.special.set(i, nil)
		if isChoice(was) {
			g.chooses = g.special.anyChooses()
		}
	}
	delete(g.names, i)
	delete(g.limits, i)
	delete(g.priorities, i)
	g.funcs[i] = nil
	g.removals.free = append(g.removals.free, i)
	g.removals.renew(i)
}

// renew gives number i a new generation: when its task is removed, and when another gets it.
func (r *removals) renew(i uint32) {
	if r.generations == nil {
		r.generations = make(map[uint32]uint32)
	}
	r.last++
	r.generations[i] = r.last
}

// Clear removes all tasks. The graph keeps its name, and remains a module of the graphs that have it as one. Any later
// use of its tasks panics.
func (g *Graph) Clear() {
	g.change()
	g.mu.Lock()
	defer g.mu.Unlock()
	g.funcs, g.edges, g.topology, g.backward = nil, nil, nil, false
	g.names, g.modules, g.special, g.chooses = nil, nil, nil, false
	g.limits, g.priorities, g.takers = nil, nil, nil
	last := g.removals.last + 1
	g.removals = removals{cleared: last, last: last}
}

// moduleAt returns the place in g.modules of the module whose task is i, or -1.
func (g *Graph) moduleAt(i uint32) int {
	at, found := g.placeOfModule(i)
	if !found {
		return -1
	}
	return at
}

func (g *Graph) placeOfModule(i uint32) (at int, found bool) {
	return slices.BinarySearchFunc(g.modules, i, func(m module, i uint32) int { return int(m.task) - int(i) })
}

// addModule adds m to the modules, which are in the order of their tasks.
func (g *Graph) addModule(m module) {
	at, _ := g.placeOfModule(m.task)
	g.modules = slices.Insert(g.modules, at, m)
}

// edit is the slow part of change.
func (g *Graph) edit() {
	if g.frozen {
		g.thaw()
	}
	if e := g.topology; e != nil && e.last != nil {
		e.last.edited = true
	}
}

// keepFrozen keeps what the freeze has made, for a freeze after few changes. The caller has locked mu.
func (g *Graph) keepFrozen() {
	g.walkable().last = &frozen{layout: g.layout, levels: g.levels, fault: g.fault, states: g.states, tasks: g.tasks}
}

// relist lists the edges of a graph with modules, which is frozen from the list. The caller has locked mu.
func (g *Graph) relist() {
	if g.modules != nil && g.topology != nil && g.edges == nil {
		g.edges = g.topology.list(len(g.funcs))
	}
}

// maxSearches is the number of added edges up to which each is looked at whether it closes a cycle. Beyond that, the
// whole graph is looked at. Arbitrary: a search takes no longer than that look.
const maxSearches = 2

// freezeEdited is freezeLocked for a graph without modules that has a topology. It changes the plan and the run states
// of the last freeze where that is possible.
func (g *Graph) freezeEdited() (*plan.Plan, error) {
	t := g.topology
	last := t.last
	if last != nil && !last.edited {
		t.last, t.added = nil, nil
		g.plan, g.layout, g.levels, g.fault, g.states, g.tasks = t.base, last.layout, last.levels, last.fault,
			last.states, last.tasks
		for _, r := range g.states {
			r.bind(last.bound)
		}
		return g.plan, g.fault
	}
	before, rows := t.base, t.rows
	p, err := t.settle(g.funcs, g.choosers(len(g.funcs)))
	if err != nil {
		return nil, fmt.Errorf("graph %q: %w", g.name, err)
	}
	added := t.added
	t.last, t.added = nil, nil
	g.plan, g.layout = p, layout{special: g.special, limits: g.limits, priorities: g.priorities}
	g.levels = g.layout.levelsOf(p)
	g.fault = g.check(func() []uint32 {
		if last != nil && last.fault == nil && len(added) <= maxSearches && !closesCycle(p, added) {
			return nil
		}
		return p.Cycle()
	})
	if last != nil && g.fault == nil {
		g.states = last.states
		for _, r := range g.states {
			if r.plan == before && r.canAdapt(p) {
				r.adapt(p, rows, last.bound)
			} else {
				r.refit(p)
			}
		}
	}
	return p, g.fault
}

// closesCycle reports whether one of the edges is part of a cycle of p, of which they are all edges that may be.
func closesCycle(p *plan.Plan, edges []plan.Edge) bool {
	for _, e := range edges {
		if slices.Contains(p.Precedes(e.From), e.To) && p.Leads(e.To, e.From) {
			return true
		}
	}
	return false
}

// bind gives tasks the functions that their graph has for them now.
func (r *runState) bind(tasks []uint32) {
	for _, i := range tasks {
		r.records[i].fn = r.plan.Funcs[i]
	}
}

// refit makes an idle state one of runs of p.
func (r *runState) refit(p *plan.Plan) {
	if n := p.Len() + 1; n <= cap(r.records) {
		r.records = r.records[:n]
	} else {
		r.records = hugepage.MakeCap[record](n + n/8)[:n]
	}
	r.ranks, r.special, r.values, r.limited, r.held = nil, nil, nil, nil, nil
	for l := range r.allLocals() {
		l.named = nil
	}
	r.fit(p, r.form)
}

// canAdapt reports whether adapt may make r a state of runs of p: neither before nor afterwards are there choices,
// priorities or limits, and there is room for new tasks.
func (r *runState) canAdapt(p *plan.Plan) bool {
	g := r.graph
	return !r.isDynamic() && r.limited == nil && p.Chooses == nil && g.levels == nil && len(g.layout.limits) == 0 &&
		p.Len() < cap(r.records)
}

// adapt is refit for a state whose plan has become p by an edit with these rows. It writes only the records of which
// something changes. Tasks in bound have other functions.
func (r *runState) adapt(p *plan.Plan, rows map[uint32][]uint32, bound []uint32) {
	was := r.plan
	r.plan, r.succ, r.special, r.values = p, p.Succ, r.graph.layout.special, nil
	r.alone = !r.special.anyEndsLater() // and there are no limits
	if r.special.anyMakes() {
		r.values = make([]madeValue, p.Len())
	}
	r.records = r.records[:p.Len()+1]
	r.setUp(r.form)
	for i := range was.Len() {
		// A task far from the edit may begin or cease to be the only predecessor of its successors, if these are many.
		if width := p.Off[i+1] - p.Off[i]; width >= minSpan || p.Off[i] != was.Off[i] {
			r.records[i].succ = r.succOf(uint32(i))
		}
	}
	for i := range was.Touched(rows) {
		r.fitTask(i)
	}
	for i := was.Len(); i < p.Len(); i++ {
		r.fitTask(uint32(i))
	}
	r.records[p.Len()].succ = p.Off[p.Len()]
	r.bind(bound)
}
