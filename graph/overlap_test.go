package graph_test

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/graph"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/require"
)

// rush adds conditions to g that choose each of tasks the given number of times in all, also while they run.
func rush(g *graph.Graph, times int, tasks ...graph.Task) {
	const drivers = 4
	begin := g.MultiCondition(func(context.Context) ([]int, error) { return []int{0, 1, 2, 3}, nil })
	for i := range drivers {
		all := (times + i) / drivers
		left := all
		choice := make([]int, len(tasks)+1)
		for k := range choice {
			choice[k] = k
		}
		driver := g.MultiCondition(func(context.Context) ([]int, error) {
			if left--; left > 0 {
				return choice, nil
			}
			left = all
			return choice[:len(tasks)], nil
		})
		begin.Precede(driver)
		driver.Precede(tasks...)
		driver.Precede(driver)
	}
}

// A join of n predecessors counts any n of their ends. No end is lost or counted twice, not even if predecessors end
// while the join runs, or if one ends several times at once.
func TestOverlapAtJoin(t *testing.T) {
	everyExecutor(t, []int{1, 2, 4}, func(t *testing.T, ex *executor.Executor) {
		times := 6 * testkit.Scale(500)
		var left, right, joins, behind atomic.Int64
		count := func(n *atomic.Int64) func(context.Context) error {
			return func(context.Context) error { n.Add(1); return nil }
		}
		g := graph.New("g")
		a, b, two, six := g.Task(count(&left)), g.Task(count(&right)), g.Task(count(&joins)), g.Task(count(&behind))
		two.Succeed(a, b)
		six.Succeed(a, two)
		six.Succeed(a, b, two, two)
		rush(g, times, a, b)
		for i := range 2 {
			require.NoError(t, run(t, ex, t.Context(), g))
			for _, n := range []*atomic.Int64{&left, &right, &joins} {
				require.EqualValues(t, times, n.Swap(0), "run %d", i)
			}
			require.EqualValues(t, times, behind.Swap(0))
		}
	})
}

// A task takes the value of a task that runs again meanwhile: it gets one of the values, not a mixture.
func TestOverlapAtValue(t *testing.T) {
	everyExecutor(t, []int{1, 4}, func(t *testing.T, ex *executor.Executor) {
		times := testkit.Scale(2000)
		var made, taken atomic.Int64
		g := graph.New("g")
		value := graph.Source(g, func(context.Context) (any, error) {
			if n := made.Add(1); n%2 == 0 {
				return [2]int64{n, n}, nil
			}
			return "odd", nil
		})
		graph.Sink(value, func(_ context.Context, v any) error {
			taken.Add(1)
			if p, ok := v.([2]int64); v != "odd" && (!ok || p[0] != p[1] || p[0]%2 != 0) {
				t.Errorf("took %v", v)
			}
			return nil
		})
		rush(g, times, value.Task())
		require.NoError(t, run(t, ex, t.Context(), g))
		require.EqualValues(t, times, made.Load())
		require.EqualValues(t, times, taken.Load())
	})
}
