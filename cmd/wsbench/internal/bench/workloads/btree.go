package workloads

import (
	"context"

	"github.com/magpie-go/magpie/graph"
	"github.com/magpie-go/magpie/internal/plan"
)

// btree forks and never joins: the parallelism doubles with every level.
var btree = &Workload{
	Name:    "btree",
	About:   "binary tree of n empty tasks, each before its two children: fork without join",
	Size:    "tasks",
	Default: 8388607,
	Tour:    1<<20 - 1,
	Shape: func(n int) Shape {
		s := GraphShape(float64(n), float64(n)-1, float64(n)/2+1)
		s.Data = float64(n) / 2 * 16 // the inner tasks, kept while the graph is built
		return s
	},
	Make: func(n int, _ uint64) Work { return btreeWork{effectless{}, n} },
}

type btreeWork struct {
	effectless
	n int
}

func (b btreeWork) Build(g *graph.Graph, body func(int) plan.Func) {
	g.Reserve(b.n, b.n-1)
	inner := make([]graph.Task, 0, b.n/2)
	for i := range b.n {
		t := g.Task(body(i))
		if i > 0 {
			inner[(i-1)/2].Precede(t)
		}
		if len(inner) < cap(inner) {
			inner = append(inner, t)
		}
	}
}

// effectless is the data of a workload whose tasks are empty. The order check and the engine's own count show that each
// task ran, once and in order.
type effectless struct{}

func (effectless) Body(int) plan.Func { return empty }
func (effectless) Reset()             {}
func (effectless) Verify() error      { return nil }

func empty(context.Context) error { return nil }
