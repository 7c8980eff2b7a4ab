package graph

import (
	"slices"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/internal/plan"
)

// A topology holds the edges between a graph's own tasks in a form that can be walked and changed at any place. A graph
// gets one when it is walked, when an edge or a task is removed, and when it is changed after a run.
//
// The rows of changed tasks are never written in place, except behind their end: a walk keeps the row with which it
// began.
type topology struct {
	base  *plan.Plan          // before the changes below
	rows  map[uint32][]uint32 // the successors of the tasks whose edges have changed
	added []plan.Edge         // added since last, the first maxSearches+1 of them
	back  *reverse            // nil until it pays
	scans int                 // for predecessors, without back
	last  *frozen             // of the last freeze, while the graph is not frozen; nil if there was none to keep
}

// A reverse holds the predecessors of tasks, each row in ascending order.
type reverse struct {
	off, list []uint32            // as in a plan
	rows      map[uint32][]uint32 // of tasks with changes since
}

// A frozen is what a freeze makes of a graph besides its plan.
type frozen struct {
	layout layout
	levels []Priority
	fault  error
	states []*runState
	tasks  *executor.TaskSet
	bound  []uint32 // tasks that were given another function since
	edited bool     // there were other changes
}

// scansBeforeReverse is the number of scans from which a reverse is made. Arbitrary: a few removals of tasks do not pay
// for it, a walk through the graph does.
const scansBeforeReverse = 16

// hasManyRows reports whether so many rows have changed, and are about to, that the edges are better listed, or the
// base better made anew. The share is arbitrary: a row in a map takes many times the time and memory of an edge in a
// list.
func (t *topology) hasManyRows(more int) bool { return len(t.rows)+more > 16+t.base.Len()/32 }

// successors returns the row of task i. The caller does not change it.
func (t *topology) successors(i uint32) []uint32 {
	if row, ok := t.rows[i]; ok {
		return row
	}
	if int(i) >= t.base.Len() {
		return nil
	}
	return slices.Clip(t.base.Successors(i))
}

// removeTask removes the edges of task i, which has a row afterwards. preds are its predecessors.
func (t *topology) removeTask(i uint32, preds []uint32) {
	if t.back != nil {
		for _, s := range t.successors(i) {
			t.back.rows[s] = without(t.back.row(s), i)
		}
		t.back.rows[i] = nil
	}
	for n, p := range preds {
		if n == 0 || p != preds[n-1] {
			t.setRow(p, without(t.successors(p), i))
		}
	}
	t.setRow(i, nil)
}

func (t *topology) setRow(i uint32, row []uint32) {
	if t.rows == nil {
		t.rows = make(map[uint32][]uint32)
	}
	t.rows[i] = row
}

// add adds an edge.
func (t *topology) add(from, to uint32) {
	t.setRow(from, append(t.successors(from), to))
	if t.last != nil && len(t.added) <= maxSearches {
		t.added = append(t.added, plan.Edge{From: from, To: to})
	}
	if t.back != nil {
		row := t.back.row(to)
		at, _ := slices.BinarySearch(row, from)
		t.back.rows[to] = slices.Insert(slices.Clip(row), at, from)
	}
}

// remove removes all edges from a task to others.
func (t *topology) remove(from uint32, others []uint32) {
	row := t.successors(from)
	left := make([]uint32, 0, len(row))
	gone := make(map[uint32]int, len(others)) // 1, or 2 after the first edge to it
	for _, o := range others {
		gone[o] = 1
	}
	for _, s := range row {
		switch gone[s] {
		case 0:
			left = append(left, s)
		case 1:
			gone[s] = 2
			if t.back != nil {
				t.back.rows[s] = without(t.back.row(s), from)
			}
		}
	}
	if len(left) < len(row) {
		t.setRow(from, left)
	}
}

// without returns a copy of row that does not contain i.
func without(row []uint32, i uint32) []uint32 {
	left := make([]uint32, 0, len(row))
	for _, s := range row {
		if s != i {
			left = append(left, s)
		}
	}
	return left
}

// predecessors returns the tasks with an edge to task i, in ascending order, as often as they have one.
func (t *topology) predecessors(i uint32) []uint32 {
	if t.back == nil {
		if t.scans++; t.scans <= scansBeforeReverse {
			return t.scan(i)
		}
		t.back = t.reverse()
	}
	return t.back.row(i)
}

// scan looks for the edges to task i among all.
func (t *topology) scan(i uint32) (preds []uint32) {
	succ := t.base.Succ[:t.base.Edges()]
	for at, s := range succ {
		if s != i {
			continue
		}
		// The last task whose row begins at or before at.
		from, _ := slices.BinarySearchFunc(t.base.Off, uint32(at), func(off, at uint32) int {
			if off > at {
				return 1
			}
			return -1
		})
		if _, changed := t.rows[uint32(from-1)]; !changed {
			preds = append(preds, uint32(from-1))
		}
	}
	for from, row := range t.rows {
		for _, s := range row {
			if s == i {
				preds = append(preds, from)
			}
		}
	}
	slices.Sort(preds)
	return preds
}

func (t *topology) reverse() *reverse {
	n := t.base.Len()
	for i := range t.rows {
		n = max(n, int(i)+1)
		for _, s := range t.rows[i] {
			n = max(n, int(s)+1)
		}
	}
	back := &reverse{off: make([]uint32, n+2), rows: make(map[uint32][]uint32)}
	// A counting sort: while it scatters, off[i+1] is the next free place of task i.
	for i := range uint32(n) {
		for _, s := range t.successors(i) {
			back.off[s+2]++
		}
	}
	for i := 2; i < len(back.off); i++ {
		back.off[i] += back.off[i-1]
	}
	back.list = make([]uint32, back.off[n+1])
	for i := range uint32(n) {
		for _, s := range t.successors(i) {
			back.list[back.off[s+1]] = i
			back.off[s+1]++
		}
	}
	return back
}

func (b *reverse) row(i uint32) []uint32 {
	if row, ok := b.rows[i]; ok {
		return row
	}
	if int(i)+1 >= len(b.off)-1 {
		return nil
	}
	return slices.Clip(b.list[b.off[i]:b.off[i+1]])
}

// settle makes a plan of the edges, and begins anew with that as the base. On an error nothing changes.
func (t *topology) settle(funcs []plan.Func, chooses []bool) (*plan.Plan, error) {
	if len(t.rows) == 0 && len(funcs) == t.base.Len() && (chooses == nil) == (t.base.Chooses == nil) {
		same := *t.base
		same.Funcs = funcs // perhaps in another array
		t.base = &same
		return t.base, nil
	}
	p, err := t.base.Edit(funcs, t.rows, chooses)
	if err != nil {
		return nil, err
	}
	t.base, t.rows = p, nil
	if t.back != nil && len(t.back.rows) > 16+p.Len()/32 {
		t.back = nil
	}
	t.scans = 0
	return p, nil
}

// walkable returns g's topology, of which it makes one if there is none. The caller has locked mu.
func (g *Graph) walkable() *topology {
	if g.topology == nil {
		p := g.plan
		if p == nil || g.modules != nil {
			var err error
			if p, err = plan.Freeze(g.funcs, g.edges, g.choosers(len(g.funcs))); err != nil {
				panic(err.Error())
			}
		}
		g.topology = &topology{base: p}
		if g.modules == nil {
			g.edges = nil
		}
	}
	return g.topology
}

// editable is walkable for a change of the edges. The caller has called change.
func (g *Graph) editable() *topology {
	g.mu.Lock()
	defer g.mu.Unlock()
	t := g.walkable()
	if t.hasManyRows(0) {
		_, _ = t.settle(g.funcs, g.choosers(len(g.funcs))) // the freeze tells of an error
	}
	g.edges = nil // of a graph with modules
	return t
}

// addEdgeToTopology adds an edge to a graph that has a topology.
func (g *Graph) addEdgeToTopology(from, to uint32) {
	t := g.topology
	g.edges = nil
	t.add(from, to)
	if t.hasManyRows(0) {
		g.listEdges()
	}
}

// listEdges makes the list the only form in which g has its edges, as while it is built. The caller has called change.
func (g *Graph) listEdges() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.topology != nil {
		g.edges = g.topology.list(len(g.funcs))
		g.topology = nil
	}
}

// list lists the edges between n tasks, grouped by predecessor.
func (t *topology) list(n int) []plan.Edge {
	if len(t.rows) == 0 {
		return t.base.EdgeList()
	}
	var edges []plan.Edge
	for i := range uint32(n) {
		for _, s := range t.successors(i) {
			edges = append(edges, plan.Edge{From: i, To: s})
		}
	}
	return edges
}
