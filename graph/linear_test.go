package graph_test

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/graph"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/require"
)

// Operations on nested graphs take time in proportion to their tasks, edges and modules, not to the number of paths
// from one graph to another, nor to the product of inner tasks and outer graphs. The sizes are such that these tests
// would not end otherwise.

// A ladder is a row of graphs, each with several modules of the next. All have conditions, so that none is copied and a
// run takes one path only. It returns the top and the bottom.
func ladder(levels int, bottom *graph.Graph, pairs bool) (top *graph.Graph) {
	below := []*graph.Graph{bottom, bottom}
	rung := func() *graph.Graph {
		g := graph.New("rung")
		first := g.Condition(func(context.Context) (int, error) { return 0, nil })
		for _, sub := range below {
			first.Precede(g.Module(sub))
		}
		return g
	}
	for range levels {
		left := rung()
		right := left
		if pairs {
			right = rung()
		}
		below = []*graph.Graph{left, right}
	}
	return below[0]
}

func TestModulesInLadder(t *testing.T) {
	for _, pairs := range []bool{false, true} {
		t.Run(fmt.Sprint("pairs=", pairs), func(t *testing.T) {
			ex := newExecutor(t, executor.Config{Workers: 2})
			within(t, ex, func() {
				ran := 0
				bottom := graph.New("bottom")
				bottom.Task(func(context.Context) error { ran++; return nil }).
					Precede(bottom.Condition(func(context.Context) (int, error) { return -1, nil }))
				top := ladder(100, bottom, pairs)
				require.NoError(t, top.Validate())
				require.NoError(t, top.WriteDOT(io.Discard))
				for i := range 3 {
					require.NoError(t, ex.Run(t.Context(), top))
					require.Equal(t, i+1, ran)
				}
				require.Panics(t, func() { bottom.Module(top) })

				// A change at the bottom is seen at the top.
				x, y := bottom.Task(nothing), bottom.Task(nothing)
				x.Precede(y)
				y.Precede(x)
				var cycle *graph.CycleError
				require.ErrorAs(t, top.Validate(), &cycle)
				require.ErrorAs(t, ex.Run(t.Context(), top), &cycle)
			})
		})
	}
}

// Nested modules that are copied, built from the bottom up, from the top down, and from the middle.
func TestModulesInChain(t *testing.T) {
	levels := testkit.Scale(20_000)
	for name, build := range map[string]func(all []*graph.Graph, join func(i int)){
		"from the bottom": func(all []*graph.Graph, join func(i int)) {
			for i := len(all) - 2; i >= 0; i-- {
				join(i)
			}
		},
		"from the top": func(all []*graph.Graph, join func(i int)) {
			for i := range len(all) - 1 {
				join(i)
			}
		},
		"two halves": func(all []*graph.Graph, join func(i int)) {
			for i := range len(all) / 2 {
				join(len(all)/2 - 1 - i)
				if i > 0 {
					join(len(all) - 1 - i)
				}
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			ex := newExecutor(t, executor.Config{Workers: 2})
			within(t, ex, func() {
				ran := 0
				all := make([]*graph.Graph, levels)
				for i := range all {
					all[i] = graph.New(fmt.Sprint("level ", i))
				}
				last := all[levels-1].Task(func(context.Context) error { ran++; return nil })
				build(all, func(i int) { all[i].Task(nothing).Precede(all[i].Module(all[i+1]).Priority(graph.High)) })
				for i := range 2 {
					require.NoError(t, ex.Run(t.Context(), all[0]))
					require.Equal(t, i+1, ran)
				}
				require.NoError(t, all[0].WriteDOT(io.Discard))
				require.Panics(t, func() { all[levels-1].Module(all[0]) })

				last.Precede(last)
				err := ex.Run(t.Context(), all[0])
				var cycle *graph.CycleError
				require.ErrorAs(t, err, &cycle)
				require.Equal(t, fmt.Sprint("level ", levels-1), cycle.Graph)
				require.Equal(t, levels-1, strings.Count(err.Error(), "module"))
			})
		})
	}
}

// A graph that is a module already is given modules that contain many graphs, the same ones again and again.
func TestModulesInTheMiddle(t *testing.T) {
	const n = 10_000
	inside := graph.New("inside")
	for range n {
		around := graph.New("around")
		around.Module(inside)
		inside = around
	}
	top, middle := graph.New("top"), graph.New("middle")
	top.Module(middle)
	for range n {
		user := graph.New("user")
		user.Module(inside)
		middle.Module(user)
		next := graph.New("next middle")
		middle.Module(next)
		middle = next
	}
	require.Panics(t, func() { inside.Module(top) })
}

// Many modules that run as wholes, of which none is chosen.
func TestModulesApart(t *testing.T) {
	n := testkit.Scale(300_000)
	ex := newExecutor(t, executor.Config{Workers: 2})
	sub, g := graph.New("sub"), graph.New("g")
	sub.Condition(func(context.Context) (int, error) { return -1, nil })
	choice := g.Condition(func(context.Context) (int, error) { return -1, nil })
	for range n {
		choice.Precede(g.Module(sub))
	}
	require.NoError(t, run(t, ex, t.Context(), g))
}

// More tasks than a graph can have are refused before they are copied.
func TestModulesTooMany(t *testing.T) {
	g := graph.New("g")
	g.Task(nothing)
	for range 100 {
		around := graph.New("around")
		around.Module(g).Precede(around.Module(g))
		g = around
	}
	require.EqualError(t, g.Validate(), `graph "around": with its modules it has more than 536870911 tasks: split it`)
}

// In any order in which graphs become modules of each other, exactly those modules are refused by which a graph would
// contain itself. Each graph that is run runs all that it contains, with the latest changes.
func TestModulesInRandomOrder(t *testing.T) {
	seed, refused, allowed := testkit.Seed(t), 0, 0
	ex := newExecutor(t, executor.Config{Workers: 1})
	for i := range testkit.Count(t, 400) {
		own := seed + uint64(i)*0x9E3779B97F4A7C15
		rng := rand.New(rand.NewPCG(own, 0))
		n := 2 + rng.IntN(9)
		ran := make([]int, n)
		graphs := make([]*graph.Graph, n)
		modules := make([][]int, n)
		for k := range graphs {
			graphs[k] = graph.New(fmt.Sprint(k))
			graphs[k].Task(func(context.Context) error { ran[k]++; return nil })
			if rng.IntN(4) == 0 {
				graphs[k].Condition(func(context.Context) (int, error) { return -1, nil }) // so that it is not copied
			}
		}
		var contains func(k, other int) bool
		contains = func(k, other int) bool {
			return k == other || slices.ContainsFunc(modules[k], func(m int) bool { return contains(m, other) })
		}
		var want func(k int, counts []int)
		want = func(k int, counts []int) {
			counts[k]++
			for _, m := range modules[k] {
				want(m, counts)
			}
		}
		told := testkit.Only(t, own)
		for range 2 * n {
			a, b := rng.IntN(n), rng.IntN(n)
			if contains(b, a) {
				refused++
				require.Panics(t, func() { graphs[a].Module(graphs[b]) }, told)
			} else {
				allowed++
				graphs[a].Module(graphs[b])
				modules[a] = append(modules[a], b)
			}
			if k := rng.IntN(n); rng.IntN(2) == 0 {
				counts := make([]int, n)
				want(k, counts)
				clear(ran)
				require.NoError(t, run(t, ex, t.Context(), graphs[k]), told)
				require.Equal(t, counts, ran, "graph %d of %v; %s", k, modules, told)
			}
		}
		require.False(t, slices.ContainsFunc(graphs, graph.IsRunning), told)
	}
	testkit.Proved(t, refused+allowed, "graphs made modules in random order")
	if refused+allowed > 100 { // a single case may have none
		require.NotZero(t, refused)
	}
}

// A condition names very many tasks, each of them twice.
func TestMultiConditionOfMany(t *testing.T) {
	n := testkit.Scale(500_000)
	ex := newExecutor(t, executor.Config{Workers: 2})
	g := graph.New("g")
	var numbers []int
	for i := range n {
		numbers = append(numbers, i, n-1-i)
	}
	var ran atomic.Int64
	choice := g.MultiCondition(func(context.Context) ([]int, error) { return numbers, nil })
	for range n {
		choice.Precede(g.Task(func(context.Context) error { ran.Add(1); return nil }))
	}
	require.NoError(t, run(t, ex, t.Context(), g))
	require.EqualValues(t, n, ran.Load())
}
