package graph_test

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/graph"
	"github.com/stretchr/testify/require"
)

// TestPartInPart: parts of each kind of run inside each other, of which some use what the workers have for the run
// around them. Each task runs as often as it should, also in the rest of the run around a part.
func TestPartInPart(t *testing.T) {
	const wide = 20
	everyExecutor(t, []int{1, 2, 4}, func(t *testing.T, ex *executor.Executor) {
		s := graph.NewSemaphore(3)
		var ran atomic.Int64
		count := func(context.Context) error { ran.Add(1); return nil }
		fan := func(g *graph.Graph, n int, task func() graph.Task) {
			first, last := g.Task(count), g.Task(count)
			for range n {
				mid := task()
				first.Precede(mid)
				mid.Precede(last)
			}
		}
		kinds := []func(g *graph.Graph, n int, task func() graph.Task){
			fan,
			func(g *graph.Graph, n int, task func() graph.Task) { // the tasks have priorities
				fan(g, n, func() graph.Task { return task().Priority(graph.High) })
			},
			func(g *graph.Graph, n int, task func() graph.Task) { // they have limits
				fan(g, n, func() graph.Task { return g.Task(count).Hold(s) })
				task()
			},
			func(g *graph.Graph, n int, task func() graph.Task) { // they are chosen
				numbers := make([]int, n)
				some := g.MultiCondition(func(context.Context) ([]int, error) { ran.Add(2); return numbers, nil })
				for i := range numbers {
					numbers[i] = i
					some.Precede(task())
				}
			},
		}
		want := func(kind, n int) int64 {
			if kind == 2 {
				n++
			}
			return int64(n + 2)
		}
		for outer := range kinds {
			for inner := range kinds {
				g := graph.New("g")
				parts := int64(0)
				kinds[outer](g, wide, func() graph.Task {
					parts++
					flow := func(_ context.Context, sub *graph.Graph) error {
						ran.Add(1)
						kinds[inner](sub, 2*wide, func() graph.Task { return sub.Task(count) })
						return nil
					}
					if parts%3 == 0 {
						return g.DetachedSubflow(flow)
					}
					return g.Subflow(flow)
				})
				all := want(outer, wide) + parts*want(inner, 2*wide)
				for range 3 {
					require.NoError(t, run(t, ex, t.Context(), g))
					require.Equal(t, all, ran.Swap(0), "kind %d in kind %d", inner, outer)
				}
			}
		}
	})
}
