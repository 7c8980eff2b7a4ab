package graph_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/graph"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/require"
)

// TestEditFarFromWide: a task with many successors, which is not edited itself, begins and ceases to be their only
// predecessor.
func TestEditFarFromWide(t *testing.T) {
	everyExecutor(t, []int{1, 2}, func(t *testing.T, ex *executor.Executor) {
		const wide = 30
		g := graph.New("g")
		var ended, ran atomic.Int64
		hub, other := g.Task(nothing), g.Task(func(context.Context) error { ended.Store(1); return nil })
		var tasks []graph.Task
		for i := range wide {
			tasks = append(tasks, g.Task(func(context.Context) error {
				if i == wide/2 {
					ended.Add(2)
				}
				ran.Add(1)
				return nil
			}))
		}
		hub.Precede(tasks...)
		for round := range 6 {
			ended.Store(0)
			require.NoError(t, run(t, ex, t.Context(), g))
			require.EqualValues(t, wide, ran.Swap(0), "round %d", round)
			if round%2 == 1 {
				require.EqualValues(t, 3, ended.Load(), "round %d: the task has not waited for the other", round)
				other.Unprecede(tasks[wide/2])
			} else {
				other.Precede(tasks[wide/2])
			}
		}
	})
}

// A plainEdit is a graph of tasks of one kind, with its edges, under edits.
type plainEdit struct {
	rng   *rand.Rand
	g     *graph.Graph
	tasks []graph.Task // each precedes only later ones
	edges map[[2]int]bool
	gone  []bool
	ran   []atomic.Int64 // the place in the order of ends, from 1 on; by task
	count atomic.Int64
	twice atomic.Bool
}

func (p *plainEdit) body(i int) func(context.Context) error {
	return func(context.Context) error {
		if !p.ran[i].CompareAndSwap(0, p.count.Add(1)) {
			p.twice.Store(true)
		}
		return nil
	}
}

func (p *plainEdit) edit() string {
	n := len(p.tasks)
	i, j := p.rng.IntN(n), p.rng.IntN(n)
	i, j = min(i, j), max(i, j)
	if p.gone[i] || p.gone[j] || i == j {
		i, j = 0, n-1 // never gone
	}
	switch act := p.rng.IntN(12); {
	case act == 0 && n < len(p.ran):
		p.tasks, p.gone = append(p.tasks, p.g.Task(p.body(n))), append(p.gone, false)
		return "a task is added"
	case act == 1 && n < len(p.ran):
		made := graph.Source(p.g, func(context.Context) (int, error) { return n, nil })
		takes := graph.Sink(made, func(_ context.Context, n int) error { return p.body(n)(nil) })
		p.tasks, p.gone = append(p.tasks, takes), append(p.gone, false)
		return "value tasks are added"
	case act == 2 && 0 < i && j < n-1:
		p.tasks[i].Remove()
		p.gone[i] = true
		for e := range p.edges {
			if slices.Contains(e[:], i) {
				delete(p.edges, e)
			}
		}
		return "a task is removed"
	case act == 3 && p.tasks[i].Kind() == graph.KindTask:
		p.tasks[i].Rebind(p.body(i))
		return "a task is bound again"
	case act < 6:
		for e := range p.edges {
			p.tasks[e[0]].Unprecede(p.tasks[e[1]])
			delete(p.edges, e)
			return "an edge is removed"
		}
	case act < 8: // one task gets many successors
		for k := i + 1; k < n; k++ {
			if !p.gone[k] && !p.edges[[2]int{i, k}] {
				p.tasks[i].Precede(p.tasks[k])
				p.edges[[2]int{i, k}] = true
			}
		}
		return "a task precedes all later ones"
	}
	p.tasks[i].Precede(p.tasks[j])
	p.edges[[2]int{i, j}] = true
	return "an edge is added"
}

// TestEditPlainGraphs: after each edit of a graph without choices, priorities and limits, the run state of the last run
// serves the next one as a new one would: each task runs once, after its predecessors.
func TestEditPlainGraphs(t *testing.T) {
	seed := testkit.Seed(t)
	var executors []*executor.Executor
	for _, w := range []int{1, 2, 4} {
		executors = append(executors, newExecutor(t, executor.Config{Workers: w}))
	}
	edits := 0
	for i := range testkit.Count(t, 40) {
		own := seed + uint64(i)*0x9E3779B97F4A7C15
		told := testkit.Only(t, own)
		p := &plainEdit{rng: rand.New(rand.NewPCG(own, 0)), g: graph.New("g"), edges: make(map[[2]int]bool)}
		p.ran = make([]atomic.Int64, 80)
		for k := range 2 + p.rng.IntN(60) {
			p.tasks, p.gone = append(p.tasks, p.g.Task(p.body(k))), append(p.gone, false)
		}
		did := "nothing was done"
		for range 40 {
			require.NoError(t, run(t, executors[p.rng.IntN(3)], t.Context(), p.g), "%s; %s", did, told)
			require.False(t, p.twice.Load(), "%s: a task runs twice; %s", did, told)
			for k := range p.tasks {
				require.Equal(t, p.gone[k], p.ran[k].Load() == 0, "%s: task %d; %s", did, k, told)
			}
			for e := range p.edges {
				require.Less(t, p.ran[e[0]].Load(), p.ran[e[1]].Load(), "%s: edge %v; %s", did, e, told)
			}
			p.count.Store(0)
			for k := range p.ran {
				p.ran[k].Store(0)
			}
			for range 1 + p.rng.IntN(2) {
				did = p.edit()
				edits++
			}
		}
	}
	testkit.Proved(t, edits, "edits of plain graphs")
}
