package cluster

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/magpie-go/magpie/executor/cluster/internal/split"
	"github.com/magpie-go/magpie/executor/cluster/internal/wire"
)

// A partitioned is a graph with its partitions. It is constant.
type partitioned struct {
	graph   *Graph
	choices map[int32][]choice
	parts   [][]int32 // the calls of each, in ascending order
	of      []int32   // the partition of each call
	needed  []need    // of each call
}

// A need says what is needed of a call outside of its partition.
type need uint8

const (
	needOrder need = 1 << iota // whether it ran
	needValue                  // its result
)

// newPlan cuts a graph into partitions of about the given cost. class returns the class of a partition that calls the
// functions with these indices of g.prototypes.
func newPlan(g *Graph, target time.Duration, class func(functions []int32) string) (*wire.Plan, error) {
	data, err := g.MarshalJSON()
	if err != nil {
		return nil, err
	}
	choices := g.choices()
	parts := split.Split(g.weighed(choices), int64(target))
	plan := &wire.Plan{V: wire.Version, Graph: data, Parts: make([]wire.PlanPart, max(parts.N, 1))}
	called := make([]map[int32]bool, len(plan.Parts))
	for k := range called {
		plan.Parts[k].Tasks = []int{}
		called[k] = map[int32]bool{}
	}
	for i := range g.calls {
		own := parts.Of[i]
		part := &plan.Parts[own]
		part.Tasks = append(part.Tasks, i)
		called[own][g.calls[i].function] = true
		for before := range g.before(int32(i), choices[int32(i)]) {
			if from := parts.Of[before]; from != own {
				part.Preds = append(part.Preds, int(from))
			}
		}
	}
	for k := range plan.Parts {
		part := &plan.Parts[k]
		slices.Sort(part.Preds)
		part.Preds = slices.Compact(part.Preds)
		for _, from := range part.Preds {
			plan.Parts[from].Succs = append(plan.Parts[from].Succs, k)
		}
		functions := make([]int32, 0, len(called[k]))
		for f := range called[k] {
			functions = append(functions, f)
		}
		slices.Sort(functions)
		part.Class = class(functions)
	}
	return plan, nil
}

// cost returns the cost of all calls, or the longest duration if that is less.
func (g *Graph) cost() (sum time.Duration) {
	for i := range g.calls {
		own := g.calls[i].worth()
		if sum > math.MaxInt64-own {
			return math.MaxInt64
		}
		sum += own
	}
	return sum
}

// worth returns the cost of the call, known or not.
func (c *call) worth() time.Duration {
	return cmp.Or(c.cost, DefaultCost)
}

// weighed returns the graph as the partitioner sees it. Calls that must be together are those of Colocate keys, those
// that hold a semaphore, and a call that chooses and those that it chooses from, of which most do not run.
func (g *Graph) weighed(choices map[int32][]choice) *split.Graph {
	w := &split.Graph{Cost: make([]int64, len(g.calls))}
	groups := map[any][]int32{}
	join := func(key any, i int32) { groups[key] = append(groups[key], i) }
	type semaphore int32
	type chooser int32
	for i := range int32(len(g.calls)) {
		w.Cost[i] = int64(g.calls[i].worth())
		m := g.said(i)
		if m.colocate != "" {
			join(m.colocate, i)
		}
		for _, s := range m.hold {
			join(semaphore(s), i)
		}
		for _, c := range m.choose {
			join(chooser(i), i)
			join(chooser(i), c)
		}
		for before, role := range g.before(i, choices[i]) {
			w.Edge(before, i, g.edgeWeight(before, role))
		}
	}
	for _, group := range groups {
		w.Together = append(w.Together, group)
	}
	return w
}

// edgeWeight returns how many bytes pass between two partitions if an edge from call i is cut.
func (g *Graph) edgeWeight(i int32, r role) int64 {
	if r == byOrder {
		return 1 // less than any result
	}
	return cmp.Or(g.said(i).size, DefaultSize)
}

// newPartitioned reads a plan, which may come from outside.
func newPartitioned(plan *wire.Plan) (*partitioned, error) {
	g := new(Graph)
	if err := g.UnmarshalJSON(plan.Graph); err != nil {
		return nil, err
	}
	p := &partitioned{graph: g, choices: g.choices(), parts: make([][]int32, len(plan.Parts))}
	p.of = make([]int32, len(g.calls))
	for i := range p.of {
		p.of[i] = -1
	}
	for k, part := range plan.Parts {
		p.parts[k] = make([]int32, len(part.Tasks))
		for at, i := range part.Tasks {
			if i < 0 || i >= len(g.calls) || p.of[i] >= 0 || at > 0 && i < part.Tasks[at-1] {
				return nil, fmt.Errorf("cluster: plan of graph %s: task %d of partition %d is none, or there twice",
					quoted(g.name), i, k)
			}
			p.of[i] = int32(k)
			p.parts[k][at] = int32(i)
		}
	}
	if slices.Contains(p.of, -1) {
		return nil, errors.New("cluster: plan of graph " + quoted(g.name) + ": a task is in no partition")
	}
	return p, p.findNeeds(plan)
}

// findNeeds finds what is needed of each call. It returns an error if a partition waits for less than it needs.
func (p *partitioned) findNeeds(plan *wire.Plan) error {
	p.needed = make([]need, len(p.of))
	taken := p.graph.taken()
	for i := range int32(len(p.of)) {
		if p.graph.kept(i, taken) {
			p.needed[i] |= needOrder | needValue
		}
		own := int(p.of[i])
		for before, role := range p.graph.before(i, p.choices[i]) {
			from := int(p.of[before])
			if from == own {
				continue
			}
			if _, waits := slices.BinarySearch(plan.Parts[own].Preds, from); !waits {
				return fmt.Errorf("cluster: plan of graph %s: partition %d does not wait for %d",
					quoted(p.graph.name), own, from)
			}
			p.needed[before] |= needOrder
			if role != byOrder {
				p.needed[before] |= needValue
			}
		}
	}
	return nil
}
