package workloads

import (
	"context"
	"fmt"

	"github.com/magpie-go/magpie/graph"
	"github.com/magpie-go/magpie/internal/plan"
)

// chain has no parallelism at all. It shows the cost of passing from one task to the next, and that of idle workers
// beside it.
var chain = &Workload{
	Name:    "chain",
	About:   "n tasks one after the other, each adding 1 to a counter: pure overhead per task",
	Size:    "tasks",
	Default: 8388608,
	Tour:    1 << 20,
	Shape:   func(n int) Shape { return GraphShape(float64(n), float64(n)-1, 1) },
	Make: func(n int, _ uint64) Work {
		c := &chainWork{n: n}
		c.add = func(context.Context) error {
			c.count++
			return nil
		}
		return c
	},
}

type chainWork struct {
	n     int
	count int       // plain: each task runs after the one before
	add   plan.Func // one closure for all tasks
}

func (c *chainWork) Build(g *graph.Graph, body func(int) plan.Func) {
	g.Reserve(c.n, c.n-1)
	last := g.Task(body(0))
	for i := 1; i < c.n; i++ {
		next := g.Task(body(i))
		last.Precede(next)
		last = next
	}
}

func (c *chainWork) Body(int) plan.Func { return c.add }

func (c *chainWork) Reset() { c.count = 0 }

func (c *chainWork) Verify() error {
	if c.count != c.n {
		return fmt.Errorf("the counter is %d after %d tasks that add 1 each", c.count, c.n)
	}
	return nil
}
