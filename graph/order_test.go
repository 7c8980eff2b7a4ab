package graph_test

import (
	"context"
	"testing"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/host"
	"github.com/magpie-go/magpie/graph"
	"github.com/stretchr/testify/require"
)

// oneThread is for an executor of which one thread runs all tasks.
var oneThread = executor.Config{
	Workers: 1, Callers: executor.IdleCallers, Threads: host.Threads{OnlyBlocking: true},
}

// TestOrder: one worker runs the tasks that become ready together in the order in which the edges were added.
func TestOrder(t *testing.T) {
	leaves := func(n int) [][]int {
		var all [][]int
		for i := range n {
			all = append(all, []int{0, i + 1})
		}
		return all
	}
	for _, c := range []struct {
		name  string
		edges [][]int
		want  []int
	}{
		{"two", leaves(2), []int{0, 1, 2}},
		{"few", leaves(5), []int{0, 1, 2, 3, 4, 5}},
		{"many", leaves(7), []int{0, 1, 2, 3, 4, 5, 6, 7}},
		{"span", leaves(9), []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}},
		{"backward", [][]int{{0, 3}, {0, 2}, {0, 1}}, []int{0, 3, 2, 1}},
		{"tree", [][]int{{0, 1}, {0, 2}, {1, 3}, {1, 4}, {2, 5}, {2, 6}}, []int{0, 1, 3, 4, 2, 5, 6}},
		{"few, and one that waits", append(leaves(4), []int{4, 2}), []int{0, 1, 3, 4, 2}},
		{"many, and one that waits", append(leaves(7), []int{7, 3}), []int{0, 1, 2, 4, 5, 6, 7, 3}},
		{"pieces", append(leaves(20), []int{20, 10}),
			[]int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 10}},
		{"grid", [][]int{{0, 1}, {0, 3}, {1, 2}, {1, 4}, {2, 5}, {3, 4}, {3, 6}, {4, 5}, {4, 7}, {5, 8}, {6, 7}, {7, 8}},
			[]int{0, 1, 2, 3, 4, 5, 6, 7, 8}},
	} {
		t.Run(c.name, func(t *testing.T) {
			ex, err := executor.New(oneThread)
			require.NoError(t, err)
			defer ex.Close()
			var ran []int
			tasks := make([]graph.Task, len(c.want))
			g := graph.New(c.name)
			for i := range tasks {
				tasks[i] = g.Task(func(context.Context) error { ran = append(ran, i); return nil })
			}
			for _, e := range c.edges {
				tasks[e[0]].Precede(tasks[e[1]])
			}
			for range 2 {
				ran = nil
				require.NoError(t, ex.Run(t.Context(), g))
				require.Equal(t, c.want, ran)
			}
		})
	}
}

// TestOrderOfChoice is TestOrder for tasks that were chosen.
func TestOrderOfChoice(t *testing.T) {
	ex, err := executor.New(oneThread)
	require.NoError(t, err)
	defer ex.Close()
	var ran []int
	g := graph.New("choice")
	first := g.MultiCondition(func(context.Context) ([]int, error) { return []int{2, 0, 1}, nil })
	for i := range 3 {
		first.Precede(g.Task(func(context.Context) error { ran = append(ran, i); return nil }))
	}
	require.NoError(t, ex.Run(t.Context(), g))
	require.Equal(t, []int{2, 0, 1}, ran)
}
