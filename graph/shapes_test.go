package graph_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/magpie-go/magpie/graph"
	"github.com/magpie-go/magpie/internal/dag"
)

// newModel makes a model of n tasks without edges. Some models have names for some tasks.
func newModel(name string, n int, named bool) (*model, []graph.Task) {
	m := &model{g: graph.New(name), preds: make([][]int, n), names: make([]string, n)}
	tasks := make([]graph.Task, n)
	for i := range tasks {
		tasks[i] = m.g.Task(func(ctx context.Context) error { return m.body(ctx, i) })
		m.names[i] = fmt.Sprintf("#%d", i)
		if named && i%3 == 0 {
			m.names[i] = fmt.Sprintf("task %d", i)
			tasks[i].Named(m.names[i])
		}
	}
	return m, tasks
}

// randomModel draws a graph of n tasks. The topological order need not be the order in which the tasks were added.
func randomModel(rng *rand.Rand, n int) *model {
	m, tasks := newModel("model", n, rng.IntN(4) == 0)
	if rng.IntN(2) == 0 {
		m.g.Reserve(rng.IntN(2*n), rng.IntN(4*n))
	}
	order := rng.Perm(n)
	if rng.IntN(2) == 0 {
		slices.Sort(order)
	}
	for _, e := range dag.Draw(rng, n).Edges {
		from, to := order[e.From], order[e.To]
		m.preds[to] = append(m.preds[to], from)
		if rng.IntN(2) == 0 {
			tasks[from].Precede(tasks[to])
		} else {
			tasks[to].Succeed(tasks[from])
		}
	}
	return m
}

// edges is m's edge list.
func (m *model) edges() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d tasks, edges", len(m.preds))
	for to, preds := range m.preds {
		for _, from := range preds {
			fmt.Fprintf(&b, " %d→%d", from, to)
		}
	}
	return b.String()
}
