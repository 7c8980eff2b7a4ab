package workloads

import (
	"context"
	"fmt"

	"github.com/magpie-go/magpie/graph"
	"github.com/magpie-go/magpie/internal/plan"
)

// dag is irregular: random edges, up to four in and four out, which lead over a thousand tasks ahead.
var dag = &Workload{
	Name:    "dag",
	About:   "random graph of n tasks with up to 4 predecessors and 4 successors at most 1024 tasks away",
	Size:    "tasks",
	Default: 4000000,
	Tour:    500000,
	Shape: func(n int) Shape {
		// Large graphs have 3.2 edges a task. A task and its successors may be ready at once, if there are not many.
		s := GraphShape(float64(n), 3.25*float64(n), float64(n)/8+1)
		s.Data = 18 * float64(n) // visited, in-degrees, a closure for each task
		return s
	},
	Make: func(n int, seed uint64) Work { return &dagWork{n: n, seed: seed, visited: make([]bool, n)} },
}

type dagWork struct {
	n       int
	seed    uint64
	visited []bool
}

const (
	dagDraws = 4    // edges drawn for each task, and the maximum that lead to one task
	dagReach = 1024 // the maximum distance of an edge
)

func (d *dagWork) Build(g *graph.Graph, body func(int) plan.Func) {
	g.Reserve(d.n, d.n*13/4)
	// Tasks are added up to the farthest edge so far. The ring holds their handles.
	var ring [2 * dagReach]graph.Task
	added := 0
	d.edges(func(from, to int) {
		for ; added <= to; added++ {
			ring[added%len(ring)] = g.Task(body(added))
		}
		ring[from%len(ring)].Precede(ring[to%len(ring)])
	})
	for ; added < d.n; added++ {
		g.Task(body(added))
	}
}

// edges draws the edges. It draws exactly four numbers for each task, whether they lead to an edge or not, so that the
// graph of a size and seed is the same everywhere.
func (d *dagWork) edges(yield func(from, to int)) {
	rng := splitmix64(d.seed)
	in := make([]uint8, d.n)
	var chosen [dagDraws]int
	for i := range d.n {
		succ := chosen[:0]
	draw:
		for range dagDraws {
			t := i + 1 + int(rng.next()%dagReach)
			if t >= d.n || in[t] >= dagDraws {
				continue
			}
			for _, s := range succ {
				if s == t {
					continue draw
				}
			}
			succ = append(succ, t)
			in[t]++
			yield(i, t)
		}
	}
}

func (d *dagWork) Body(i int) plan.Func {
	visited := &d.visited[i] // one word to capture, not two
	return func(context.Context) error {
		*visited = true
		return nil
	}
}

func (d *dagWork) Reset() { clear(d.visited) }

func (d *dagWork) Verify() error {
	for i, v := range d.visited {
		if !v {
			return fmt.Errorf("task %d of %d was never run", i, d.n)
		}
	}
	return nil
}

// splitmix64 is the generator of that name (Steele, Lea, Flood 2014); the value is its state.
type splitmix64 uint64

func (s *splitmix64) next() uint64 {
	*s += 0x9E3779B97F4A7C15
	z := uint64(*s)
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return z ^ z>>31
}
