package graph_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/magpie-go/magpie/graph"
)

// A drawing is a model under construction. Edges are between places in the topological order, which need not be the
// order in which the tasks were added.
type drawing struct {
	*model
	rng   *rand.Rand
	tasks []graph.Task
	order []int // the task at each place
}

func (d *drawing) edge(a, b int) {
	from, to := d.order[a], d.order[b]
	d.preds[to] = append(d.preds[to], from)
	if d.rng.IntN(2) == 0 {
		d.tasks[from].Precede(d.tasks[to])
	} else {
		d.tasks[to].Succeed(d.tasks[from])
	}
}

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

// randomModel draws a graph of n tasks.
func randomModel(rng *rand.Rand, n int) *model {
	m, tasks := newModel("model", n, rng.IntN(4) == 0)
	d := &drawing{model: m, rng: rng, tasks: tasks, order: rng.Perm(n)}
	if rng.IntN(2) == 0 {
		m.g.Reserve(rng.IntN(2*n), rng.IntN(4*n))
	}
	if rng.IntN(2) == 0 {
		slices.Sort(d.order)
	}
	patterns[rng.IntN(len(patterns))](d, n)
	return m
}

// patterns draw the edges of n tasks.
var patterns = []func(d *drawing, n int){
	// Any density.
	func(d *drawing, n int) {
		density := d.rng.Float64()
		density *= density * density
		for b := range n {
			for a := range b {
				if d.rng.Float64() < density {
					d.edge(a, b)
				}
			}
		}
	},
	// Fans of fans: a tree with few inner nodes.
	func(d *drawing, n int) {
		for b := 1; b < n; b++ {
			d.edge(d.rng.IntN(1+b/20), b)
		}
	},
	// Fans that end in a sink each, some with chains in between. With narrow ones these are diamonds.
	func(d *drawing, n int) {
		widest := 2 + 38*d.rng.IntN(2)
		for at := 0; at < n-2; {
			width := min(1+d.rng.IntN(widest), n-at-2)
			chained := d.rng.IntN(3) == 0
			for i := range width {
				if chained && i > 0 && i%3 != 0 {
					d.edge(at+i, at+i+1) // goes on with the task before it
				} else {
					d.edge(at, at+i+1)
				}
				d.edge(at+i+1, at+width+1)
			}
			at += width + 1
		}
	},
	// Layers, each task with a few predecessors in the layer before.
	func(d *drawing, n int) {
		for at, before := 0, 0; at < n; {
			width := min(1+d.rng.IntN(60), n-at)
			for b := at; b < at+width; b++ {
				for range min(at-before, d.rng.IntN(5)) {
					d.edge(before+d.rng.IntN(at-before), b) // also twice the same
				}
			}
			before, at = at, at+width
		}
	},
	// A few chains side by side.
	func(d *drawing, n int) {
		chains := 1 + d.rng.IntN(4)
		for b := chains; b < n; b++ {
			d.edge(b-chains, b)
		}
	},
	// A tree, out of its root or into it.
	func(d *drawing, n int) {
		arms := 1 + d.rng.IntN(3)
		into := d.rng.IntN(2) == 0
		for b := 1; b < n; b++ {
			if up := (b - 1) / arms; into {
				d.edge(n-1-b, n-1-up)
			} else {
				d.edge(up, b)
			}
		}
	},
	// Sources and sinks, every one of the former before every one of the latter, and some that stand alone.
	func(d *drawing, n int) {
		sources, sinks := 1+d.rng.IntN(4), 1+d.rng.IntN(12)
		for a := range min(sources, n) {
			for b := sources; b < min(sources+sinks, n); b++ {
				d.edge(a, b)
			}
		}
	},
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
