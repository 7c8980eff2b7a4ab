package workloads

import (
	"github.com/magpie-go/magpie/graph"
	"github.com/magpie-go/magpie/internal/plan"
)

// fan is as wide as a graph can be, and all its tasks meet at one join counter.
var fan = &Workload{
	Name:    "fan",
	About:   "a source, n independent empty tasks, a sink after all of them: one fork and one join of everything",
	Size:    "tasks between source and sink",
	Default: 1000000,
	Tour:    250000,
	Shape:   func(n int) Shape { return GraphShape(float64(n)+2, 2*float64(n), float64(n)) },
	Make:    func(n int, _ uint64) Work { return fanWork{effectless{}, n} },
}

type fanWork struct {
	effectless
	n int
}

// Build adds the source as task 0, the independent tasks as 1 to n, the sink as n+1.
func (f fanWork) Build(g *graph.Graph, body func(int) plan.Func) {
	g.Reserve(f.n+2, 2*f.n)
	source := g.Task(body(0))
	middle := make([]graph.Task, f.n)
	for i := range middle {
		middle[i] = g.Task(body(i + 1))
		source.Precede(middle[i])
	}
	sink := g.Task(body(f.n + 1))
	sink.Succeed(middle...)
}
