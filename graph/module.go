package graph

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/magpie-go/magpie/internal/hugepage"
	"github.com/magpie-go/magpie/internal/plan"
	"github.com/magpie-go/magpie/internal/xsync"
)

// Module adds a task that runs another graph: it begins with the tasks of sub that have no predecessor, and ends with
// those that have no successor. A graph may be a module several times, in one graph or in many, and also be run by
// itself. A run of g runs sub as it is when the run begins: the tasks of sub are copied in the first run after a
// change. A run of g counts as a run of sub, which must not be changed meanwhile. Unless the task is [Task.Named], it
// is called by the name of sub and its own number, as in sub#3. A task of a module is called by the name of the
// innermost module and its own, as in sub#3/load: so tasks of nested modules may have the same name.
//
// A failure of a task of sub is a [*TaskError] with the name of sub, which is wrapped in one of the module's task. If
// sub has conditions, or if the module's task has a limit, sub is run as a whole. Module panics if sub is nil, or
// contains g.
func (g *Graph) Module(sub *Graph) Task {
	g.mustBe()
	if sub == nil {
		panic(fmt.Sprintf("graph %q: the graph of module %d is nil", g.name, len(g.funcs)))
	}
	sub.checkSealed()
	if !g.putAbove(sub) {
		panic(fmt.Sprintf("graph %q: module %q contains this graph: a graph cannot be a part of itself",
			g.name, sub.name))
	}
	t := g.Task(noTask)
	g.addModule(module{t.index, sub})
	return t
}

// noTask is the function of tasks that do nothing but order others.
func noTask(context.Context) error { return nil }

// A module is a task that stands for a graph.
type module struct {
	task  uint32
	graph *Graph
}

// runsApart reports whether a module of g is run as a whole and not copied. If its tasks choose, it is not known
// beforehand which of them run, so a copy would have no last task. If its task has a limit, the permits are held until
// the whole module has ended.
func (g *Graph) runsApart(m module) bool { return m.graph.chooses || g.limits[m.task] != nil }

// heights guards the heights of all graphs. Graphs with the same modules may be built at the same time.
var heights xsync.Mutex

// putAbove makes g higher than sub and all graphs that sub contains, or returns false if sub contains g.
//
// If graphs are built from the top down or from the bottom up, no graph has to be moved. Otherwise sub and all that it
// contains is moved down, by one level more for each graph that was visited. As many levels fit in between before the
// same graphs are visited again, so the amortized cost of a level is one visit.
func (g *Graph) putAbove(sub *Graph) bool {
	heights.Lock()
	defer heights.Unlock()
	switch {
	case g == sub:
		return false
	case !g.isModule && (g.modules == nil || g.height <= sub.height): // g gets the least height that will do
		g.height = sub.height + 1
	case g.height <= sub.height:
		all := sub.withAllInside()
		if slices.Contains(all, g) {
			return false
		}
		down := sub.height - g.height + 1 + len(all)
		for _, s := range all {
			s.height -= down
		}
	}
	sub.isModule = true
	return true
}

// withAllInside returns g and the graphs that it contains at any depth, once each.
func (g *Graph) withAllInside() []*Graph {
	all := []*Graph{g}
	seen := map[*Graph]bool{g: true}
	for i := 0; i < len(all); i++ {
		for _, m := range all[i].modules {
			if !seen[m.graph] {
				seen[m.graph] = true
				all = append(all, m.graph)
			}
		}
	}
	return all
}

// A use is the graph of one or more modules, and the edition that it last had.
type use struct {
	graph   *Graph
	edition uint64
}

// hold forbids changes of g, and of all graphs that it contains, until release has been called as often. It returns g's
// edition, which differs from the last if any of these graphs has changed. The modules of a graph that is already held
// are not visited again: so a graph is visited once for each graph that it is a module of, however many paths lead to
// it.
func (g *Graph) hold() (edition uint64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.holdLocked()
	return g.edition
}

// holdLocked is hold for a caller that has locked mu.
func (g *Graph) holdLocked() {
	if g.holds++; g.holds > 1 {
		return
	}
	isNew := !g.frozen
	if isNew {
		g.frozen = true
		g.uses = g.uniqueUses()
	}
	for i := range g.uses {
		u := &g.uses[i]
		if e := u.graph.hold(); e != u.edition {
			u.edition, isNew = e, true
		}
	}
	if isNew {
		g.edition++
		g.forgetPlan()
		g.relist()
		g.size = uint32(g.unfoldedSize())
	}
}

// release takes back one hold.
func (g *Graph) release() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.releaseLocked()
}

// releaseLocked is release for a caller that has locked mu.
func (g *Graph) releaseLocked() {
	if g.holds--; g.holds > 0 {
		return
	}
	for _, u := range g.uses {
		u.graph.release()
	}
}

func (g *Graph) uniqueUses() (uses []use) {
	if g.modules == nil {
		return nil
	}
	seen := make(map[*Graph]bool)
	for _, m := range g.modules {
		if !seen[m.graph] {
			seen[m.graph] = true
			uses = append(uses, use{graph: m.graph})
		}
	}
	return uses
}

// unfoldedSize returns the number of tasks of the plan, not counting the tasks that end copies of modules. It is at
// most plan.Max+1. The caller holds the modules.
func (g *Graph) unfoldedSize() int {
	n := len(g.funcs)
	for _, m := range g.modules {
		if !g.runsApart(m) {
			n = min(n+int(m.graph.size), plan.Max+1)
		}
	}
	return n
}

// A part is a run of neighbouring tasks of a plan: those of a graph, from the number own on. The task that ends the
// copy of a module is a part of its own; its number is one past the last of the copy.
type part struct {
	first  uint32 // in the plan
	graph  *Graph
	own    uint32
	module uint32 // in the plan: the task of the module that is copied; 0 for the tasks of no module
}

// A layout describes the tasks of a plan, by their numbers there.
type layout struct {
	parts      []part // ascending
	special    specials
	limits     map[uint32][]limit
	priorities map[uint32]Priority // of the tasks that were given one
}

// An unfolding holds the tasks and edges of a graph and of its modules.
type unfolding struct {
	layout
	funcs []plan.Func
	edges []plan.Edge
}

// unfold returns the tasks and edges of g with those of its modules. A module's own task precedes the copy. The edges
// to the successors of the module begin at the last task of the copy, or at an extra task behind the copy. The caller
// holds g, and no graph contains itself.
func (g *Graph) unfold() (*unfolding, error) {
	if g.size > plan.Max {
		return nil, fmt.Errorf("graph %q: with its modules it has more than %d tasks: split it", g.name, plan.Max)
	}
	u := &unfolding{funcs: hugepage.MakeCap[plan.Func](int(g.size))}
	u.limits = make(map[uint32][]limit)
	u.priorities = make(map[uint32]Priority)
	_, err := u.add(g, 0)
	return u, err
}

// add adds the tasks of g and, behind them, the copies of its modules. For each copied module's task it returns the
// task at which its edges begin. The plan's task module is the one that g is copied for.
func (u *unfolding) add(g *Graph, module uint32) (ends map[uint32]uint32, err error) {
	first := uint32(len(u.funcs))
	u.funcs = append(u.funcs, g.funcs...)
	if len(g.funcs) > 0 {
		u.parts = append(u.parts, part{first: first, graph: g, module: module})
	}
	u.special.add(g.special, first)
	place(u.limits, g.limits, first)
	place(u.priorities, g.priorities, first)
	if len(g.modules) > 0 {
		ends = make(map[uint32]uint32, len(g.modules))
	}
	for _, m := range g.modules {
		var err error
		if g.runsApart(m) {
			_, err = m.graph.freezeHeld()
			u.special.set(first+m.task, apart{m.graph})
		} else {
			ends[m.task], err = u.copy(m.graph, first+m.task)
		}
		if err != nil {
			return nil, &moduleError{g, m.graph, err}
		}
	}
	for _, e := range g.ownEdges() {
		from, ok := ends[e.From]
		if !ok {
			from = first + e.From
		}
		u.edges = append(u.edges, plan.Edge{From: from, To: first + e.To})
	}
	return ends, nil
}

// place copies a property of the tasks of a graph to those of a plan, where the tasks begin at first.
func place[T any](all, own map[uint32]T, first uint32) {
	for i, v := range own {
		all[first+i] = v
	}
}

// copy adds the tasks of sub with the plan's task before as their predecessor, and returns the task that ends the copy.
func (u *unfolding) copy(sub *Graph, before uint32) (end uint32, err error) {
	if err := sub.checkCopied(); err != nil {
		return 0, err
	}
	first := uint32(len(u.funcs))
	ends, err := u.add(sub, before)
	if err != nil {
		return 0, err
	}
	n := uint32(len(sub.funcs))
	isFirst, isLast := slices.Repeat([]bool{true}, int(n)), slices.Repeat([]bool{true}, int(n))
	for _, e := range sub.ownEdges() {
		isFirst[e.To], isLast[e.From] = false, false
	}
	var last []uint32
	for i, fn := range sub.funcs {
		if fn == nil {
			isFirst[i], isLast[i] = false, false
		}
	}
	for i := range n {
		if isFirst[i] {
			u.edges = append(u.edges, plan.Edge{From: before, To: first + i})
		}
		if isLast[i] {
			at, ok := ends[i]
			if !ok {
				at = first + i
			}
			last = append(last, at)
		}
	}
	if len(last) == 1 {
		return last[0], nil
	}
	if len(last) == 0 {
		last = []uint32{before}
	}
	end = uint32(len(u.funcs))
	u.funcs = append(u.funcs, noTask)
	u.parts = append(u.parts, part{end, sub, end - first, before})
	if p, ok := u.priorities[before]; ok {
		u.priorities[end] = p
	}
	for _, at := range last {
		u.edges = append(u.edges, plan.Edge{From: at, To: end})
	}
	return end, nil
}

// ownEdges returns the edges between g's own tasks. The caller holds g.
func (g *Graph) ownEdges() []plan.Edge {
	if g.modules != nil {
		return g.edges
	}
	g.mu.Lock() // a freeze by another holder drops g.edges
	defer g.mu.Unlock()
	switch {
	case g.plan != nil:
		return g.plan.EdgeList()
	case g.topology != nil:
		return g.topology.list(len(g.funcs))
	}
	return g.edges
}

// checkCopied returns an error if the own tasks of a copied module have a cycle or cannot be frozen.
func (g *Graph) checkCopied() error {
	if !g.backward {
		return nil
	}
	level, err := plan.Freeze(g.funcs, g.ownEdges(), nil)
	if err != nil || level.Cycle() == nil {
		return err
	}
	_, err = g.freezeHeld() // names the tasks
	return err
}

// A moduleError says what is wrong with a module of a graph.
type moduleError struct {
	graph, module *Graph
	err           error
}

// Error formats nested modules in one loop. With recursion the innermost text would be copied once for each level.
func (e *moduleError) Error() string {
	var b strings.Builder
	for {
		fmt.Fprintf(&b, "graph %q: module %q: ", e.graph.name, e.module.name)
		inner, ok := e.err.(*moduleError)
		if !ok {
			b.WriteString(e.err.Error())
			return b.String()
		}
		e = inner
	}
}

func (e *moduleError) Unwrap() error { return e.err }

// origin returns the graph of task i of the plan, and the task's number there.
func (g *Graph) origin(i uint32) (*Graph, uint32) {
	at := g.partAt(i)
	if at < 0 {
		return g, i // not frozen
	}
	p := g.parts[at]
	return p.graph, i - p.first + p.own
}

// isEnd reports whether task i of the plan only ends the copy of a module.
func (g *Graph) isEnd(i uint32) bool {
	owner, own := g.origin(i)
	return int(own) >= len(owner.funcs)
}

// partAt returns the index of the part with task i of the plan, or -1 if there are no parts.
func (g *Graph) partAt(i uint32) int {
	at, found := slices.BinarySearchFunc(g.parts, i, func(p part, i uint32) int {
		return int(int64(p.first) - int64(i))
	})
	if !found {
		at--
	}
	return at
}

// moduleOf returns the plan's task for the module of which task i is copied.
func (g *Graph) moduleOf(i uint32) uint32 { return g.parts[g.partAt(i)].module }
