// Package plan is the frozen form of a task graph: compact arrays that never change after the freeze.
//
// The run of a graph in package graph, the serial yardstick, the validation and the test oracle all read this one form,
// so that they cannot disagree about the graph.
package plan

import (
	"context"
	"fmt"

	"github.com/magpie-go/magpie/internal/hugepage"
)

// Func is the body of a task.
type Func = func(context.Context) error

// Max bounds the sum of a plan's tasks and edges. Indices are 32 bits wide, and package graph keeps three of the bits.
const Max = 1<<29 - 1

// A Plan is one frozen graph. All slices are read-only. Tasks are numbered from 0 in the order they were added.
type Plan struct {
	Funcs []Func   // body of each task; nil is no task: its number is free, and no edge begins or ends there
	Off   []uint32 // len = tasks+1; the successors of i are Succ[Off[i]:Off[i+1]]
	Succ  []uint32 // successors, grouped by predecessor, in the order the edges were added; then the sources
	Join  []uint32 // number of predecessors of each task: the join counter's initial value
	// Chooses says which tasks choose among their successors instead of preceding them; nil if none does. Join does not
	// count the edges of such a task.
	Chooses []bool
	// Sources lists, in ascending order, the tasks without an incoming edge. It is the end of Succ, as if a task before
	// all others preceded them.
	Sources []uint32
	Free    int // number of nil Funcs
}

// An Edge says that task From precedes task To.
type Edge struct{ From, To uint32 }

// Len returns the number of tasks and free numbers.
func (p *Plan) Len() int { return len(p.Funcs) }

// Tasks returns the number of tasks.
func (p *Plan) Tasks() int { return len(p.Funcs) - p.Free }

// Edges returns the number of edges.
func (p *Plan) Edges() int { return len(p.Succ) - len(p.Sources) }

// Successors returns the tasks that i precedes or chooses from.
func (p *Plan) Successors(i uint32) []uint32 { return p.Succ[p.Off[i]:p.Off[i+1]] }

// Freeze groups edges by predecessor and counts joins. It keeps funcs and chooses, which is nil or as long as funcs,
// and does not keep edges. It returns an error for more than [Max] tasks and edges. It does not look for cycles: see
// [Plan.Cycle].
func Freeze(funcs []Func, edges []Edge, chooses []bool) (*Plan, error) {
	n := len(funcs)
	if err := checkSize(n, len(edges)); err != nil {
		return nil, err
	}
	p := &Plan{Funcs: funcs, Chooses: chooses}
	p.makeArrays(n, len(edges))
	// Counting sort. While edges are scattered, Off[i+1] is the next free place of task i; at the end it is task i's
	// limit.
	for _, e := range edges {
		p.Off[e.From+1]++
		p.Join[e.To]++ // weak edges too for now: a source has no incoming edge of either kind
	}
	var sum uint32
	for i := 1; i <= n; i++ {
		count := p.Off[i]
		p.Off[i] = sum
		sum += count
	}
	sources := p.countSources(p.Join)
	if p.Succ == nil {
		p.Succ = hugepage.Make[uint32](len(edges) + sources)
	}
	p.Succ = p.Succ[: len(edges) : len(edges)+sources]
	for _, e := range edges {
		at := &p.Off[e.From+1]
		p.Succ[*at] = e.To
		*at++
	}
	p.addSources(p.Join)
	if chooses != nil {
		for _, e := range edges {
			if chooses[e.From] {
				p.Join[e.To]--
			}
		}
	}
	return p, nil
}

// makeArrays makes Off and Join. If they are short, they are one allocation with Succ, which then has room for every
// task to be a source.
func (p *Plan) makeArrays(tasks, edges int) {
	const short = 64
	if 3*tasks+edges > short {
		p.Off, p.Join = hugepage.Make[uint32](tasks+1), hugepage.Make[uint32](tasks)
		return
	}
	all := make([]uint32, 3*tasks+1+edges)
	p.Off, all = all[:tasks+1:tasks+1], all[tasks+1:]
	p.Join, p.Succ = all[:tasks:tasks], all[tasks:]
}

func checkSize(tasks, edges int) error {
	if tasks+edges > Max {
		return fmt.Errorf("%d tasks and %d edges, "+
			"at most %d together fit a graph: split it, or join through common tasks", tasks, edges, Max)
	}
	return nil
}

// countSources returns the number of tasks without an incoming edge, and sets Free. incoming has the number of edges to
// each task.
func (p *Plan) countSources(incoming []uint32) (sources int) {
	p.Free = 0
	for i, n := range incoming {
		switch {
		case n != 0:
		case p.Funcs[i] == nil:
			p.Free++
		default:
			sources++
		}
	}
	return sources
}

// addSources appends the sources to Succ.
func (p *Plan) addSources(incoming []uint32) {
	edges := len(p.Succ)
	for i, n := range incoming {
		if n == 0 && p.Funcs[i] != nil {
			p.Succ = append(p.Succ, uint32(i))
		}
	}
	p.Sources = p.Succ[edges:]
}

// Precedes returns the tasks that i precedes: none if i chooses among its successors.
func (p *Plan) Precedes(i uint32) []uint32 {
	if p.Chooses != nil && p.Chooses[i] {
		return nil
	}
	return p.Successors(i)
}

// OnlyPredecessor reports whether each of tasks has exactly one predecessor.
func (p *Plan) OnlyPredecessor(tasks []uint32) bool {
	for _, t := range tasks {
		if p.Join[t] != 1 {
			return false
		}
	}
	return true
}

// EdgeList lists the edges again, grouped by predecessor.
func (p *Plan) EdgeList() []Edge {
	edges := make([]Edge, 0, p.Edges())
	for i := range p.Len() {
		for _, s := range p.Successors(uint32(i)) {
			edges = append(edges, Edge{uint32(i), s})
		}
	}
	return edges
}

// Of returns the plan of a *graph.Graph and freezes the graph first if need be. Package graph sets it: the tools of
// this module read plans, and users of the module need none.
var Of func(graph any) (*Plan, error)
