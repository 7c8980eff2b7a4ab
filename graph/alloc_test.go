package graph_test

import (
	"context"
	"fmt"
	"runtime"
	"testing"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/graph"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/require"
)

// requireAllocations demands that a call of f, which uses ex, allocates most objects in the whole process, on average.
// Others in the process allocate now and then, and pools grow when the system suspends a worker that holds some of
// their content. testing.AllocsPerRun would take all Ps but one away from the workers.
func requireAllocations(t *testing.T, ex *executor.Executor, most float64, f func()) {
	t.Helper()
	const calls = 100
	testkit.Fits(t, func() string {
		var before, after runtime.MemStats
		within(t, ex, func() {
			runtime.ReadMemStats(&before)
			for range calls {
				f()
			}
			runtime.ReadMemStats(&after)
		})
		if each := float64(after.Mallocs-before.Mallocs) / calls; each > most {
			return fmt.Sprintf("%v allocations a call, want at most %v", each, most)
		}
		return ""
	})
}

// shapes are graphs of n tasks.
var shapes = map[string]func(g *graph.Graph, n int){
	"chain": func(g *graph.Graph, n int) {
		last := g.Task(nothing)
		for range n - 1 {
			next := g.Task(nothing)
			last.Precede(next)
			last = next
		}
	},
	"fan": func(g *graph.Graph, n int) {
		source, sink := g.Task(nothing), g.Task(nothing)
		for range n - 2 {
			s := g.Task(nothing)
			source.Precede(s)
			s.Precede(sink)
		}
	},
	"fan with gaps": func(g *graph.Graph, n int) { // the others are released as spans
		source, other, sink := g.Task(nothing), g.Task(nothing), g.Task(nothing)
		for i := range n - 3 {
			s := g.Task(nothing)
			source.Precede(s)
			s.Precede(sink)
			if i%9 == 0 {
				other.Precede(s)
			}
		}
	},
	"sources": func(g *graph.Graph, n int) {
		for range n {
			g.Task(nothing)
		}
	},
}

// large returns n, or a smaller size of graphs under the race detector, for tests that only count allocations.
func large(n int) int {
	if testkit.Race {
		n /= 50
	}
	return testkit.Scale(n)
}

// TestAllocations: a rerun of a graph allocates a constant amount, for any size and shape of the graph.
func TestAllocations(t *testing.T) {
	for name, build := range shapes {
		for _, w := range testkit.Part(t, []int{1, 2}) {
			for _, n := range []int{10, 1000, large(100_000)} {
				t.Run(fmt.Sprintf("%s/W=%d/n=%d", name, w, n), func(t *testing.T) {
					ex := newExecutor(t, executor.Config{Workers: w})
					g := graph.New(name)
					build(g, n)
					rerun := func(ctx context.Context) {
						if err := ex.Run(ctx, g); err != nil {
							panic(err)
						}
					}
					within(t, ex, func() {
						for range 20 { // run states, deques and pools of spans reach the size they need
							rerun(context.Background())
						}
					})
					// The rest of the process allocates a little too.
					const others = 0.5
					const plain, withCancel = 2 + others, 8 + others
					requireAllocations(t, ex, plain, func() { rerun(context.Background()) })

					ctx, cancel := context.WithCancel(context.Background())
					defer cancel()
					requireAllocations(t, ex, withCancel, func() { rerun(ctx) })
				})
			}
		}
	}
}

// TestRunStateIsReused: a graph keeps the run state for the next run, also after a failure, and keeps few after a burst
// of runs at once.
func TestRunStateIsReused(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 2})
	g := graph.New("g")
	fail := false
	g.Task(func(context.Context) error {
		if fail {
			return errTask
		}
		return nil
	})
	require.Zero(t, graph.IdleStates(g))
	for range 3 {
		fail = !fail
		_ = run(t, ex, t.Context(), g)
		require.Equal(t, 1, graph.IdleStates(g))
	}

	gate, at := make(chan struct{}), graph.New("gated")
	at.Task(func(context.Context) error { <-gate; return nil })
	var runs []*executor.Run
	for range 20 {
		runs = append(runs, ex.Start(t.Context(), at))
	}
	close(gate)
	within(t, ex, func() {
		for _, r := range runs {
			require.NoError(t, r.Wait())
		}
	})
	require.Equal(t, graph.MaxIdleStates, graph.IdleStates(at))
	at.Task(nothing)
	require.Zero(t, graph.IdleStates(at), "states of the graph as it was are of no use")
}

// TestMemory measures the memory of a chain that has been built and run once, for each task.
func TestMemory(t *testing.T) {
	const most = 60
	n := 1 << 19
	if testkit.Race {
		n = 1 << 15
	}
	heap := func() uint64 {
		runtime.GC()
		runtime.GC() // finalizers and what they freed
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	ex := newExecutor(t, executor.Config{Workers: 1})
	before := heap()
	g := graph.New("chain")
	g.Reserve(n, n)
	shapes["chain"](g, n)
	require.NoError(t, run(t, ex, t.Context(), g))
	kept := float64(int64(heap()-before)) / float64(n)
	t.Logf("%.1f bytes a task", kept)
	require.LessOrEqual(t, kept, float64(most))
	require.Equal(t, n, g.Len()) // and keeps g alive
}
