package observe_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"os"
	"runtime"
	"runtime/pprof"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/observe"
	"github.com/magpie-go/magpie/graph"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/require"
)

// newExecutor returns an executor with an observer, which is closed after the test.
func newExecutor(t testing.TB, workers int, observers ...*executor.Observer) *executor.Executor {
	t.Helper()
	ex, err := executor.New(executor.Config{Workers: workers, Observers: observers})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, ex.Close()) })
	return ex
}

// randomGraph returns a graph of n tasks with names, and its edges by name.
func randomGraph(rng *rand.Rand, n int, work func(int)) (*graph.Graph, [][2]string) {
	g := graph.New("random")
	var tasks []graph.Task
	var edges [][2]string
	for i := range n {
		task := g.Task(func(context.Context) error { work(i); return nil }).Named(fmt.Sprint("t", i))
		for range min(i, rng.IntN(4)) {
			j := rng.IntN(i)
			edge := [2]string{fmt.Sprint("t", j), fmt.Sprint("t", i)}
			if !slices.Contains(edges, edge) {
				edges = append(edges, edge)
				task.Succeed(tasks[j])
			}
		}
		tasks = append(tasks, task)
	}
	return g, edges
}

// The trace of real runs has each task once a run, and an arrow for each edge from its task to the other, in time.
func TestTraceOfGraphs(t *testing.T) {
	seed := testkit.Seed(t)
	for workers := 1; workers <= 3; workers++ {
		t.Run(fmt.Sprint("workers=", workers), func(t *testing.T) {
			const n, runs = 60, 20
			var out bytes.Buffer
			trace := observe.NewTrace(&out, observe.TraceOptions{Wait: true, Edges: true, Parks: true})
			ex := newExecutor(t, workers, trace.Observer())
			var ran atomic.Int64
			g, edges := randomGraph(rand.New(rand.NewPCG(seed, uint64(workers))), n, func(i int) {
				ran.Add(1)
				if i%16 == 0 {
					time.Sleep(100 * time.Microsecond) // lets others steal
				}
			})
			var all []*executor.Run
			for range runs {
				all = append(all, ex.Start(t.Context(), g))
			}
			for _, r := range all {
				require.NoError(t, r.Wait())
			}
			require.NoError(t, ex.Close())
			require.NoError(t, trace.Close())

			f := readTrace(t, out.Bytes())
			require.Len(t, f.of("X", "random"), int(ran.Load()))
			require.Len(t, f.of("b", "run"), runs)
			require.Len(t, f.of("e", "run"), runs)
			require.LessOrEqual(t, len(f.of("f", "steal")), int(ex.Stats().Total.StealsWon))
			begins := make(map[uint64]traceEvent)
			for _, e := range f.of("s", "edge") {
				if _, twice := begins[*e.ID]; twice { // NotContains would look at all keys
					require.Fail(t, "a second edge", "%v", e)
				}
				begins[*e.ID] = e
			}
			count := make(map[[2]string]int)
			for _, e := range f.of("f", "edge") {
				from := f.around(1, begins[*e.ID].Tid, begins[*e.ID].Begin)
				to := f.next(1, e.Tid, e.Begin)
				require.LessOrEqual(t, from.End, to.Begin)
				count[[2]string{from.Name, to.Name}]++
			}
			require.Len(t, count, len(edges))
			for _, edge := range edges {
				require.Equal(t, runs, count[edge], "%v", edge)
			}
		})
	}
}

// Functions, forks, children, futures and nested runs: the slices nest, and the executor's counter tells its workers.
func TestTraceOfFunctions(t *testing.T) {
	busy := 20 * time.Millisecond
	testkit.Fits(t, func() string {
		busy *= 2 // on a busy machine no sample may be taken meanwhile
		if workers, queued := traceOfFunctions(t, busy/2); workers == 0 || queued == 0 {
			return fmt.Sprintf("at most %v workers run, and %v items are queued", workers, queued)
		}
		return ""
	})
}

// traceOfFunctions checks a trace, and returns the largest samples in it. Tasks keep the workers busy for some time.
func traceOfFunctions(t *testing.T, busy time.Duration) (workers, queued float64) {
	var out bytes.Buffer
	trace := observe.NewTrace(&out, observe.TraceOptions{Wait: true, Sample: time.Millisecond})
	ex, err := executor.New(executor.Config{
		Workers: 2, Name: "two of them", Observers: []*executor.Observer{trace.Observer()},
	})
	require.NoError(t, err)
	g := graph.New("inner")
	g.Task(func(context.Context) error { return nil }).Named("leaf")
	err = ex.Run(t.Context(), executor.NewJob("outer", func(s *executor.Scope) error {
		for range 10 {
			s.Go(func(ctx context.Context) error { return ex.Run(ctx, g) })
		}
		return s.Wait()
	}))
	require.NoError(t, err)
	// For the counters: items wait for workers that are busy.
	for range 4 {
		ex.Start(t.Context(), executor.NewJob("busy", func(*executor.Scope) error {
			time.Sleep(busy)
			return nil
		}))
	}
	_, err = executor.Async(t.Context(), ex, func(context.Context) (int, error) { return 1, nil }).Wait()
	require.NoError(t, err)
	require.NoError(t, ex.Close())
	require.NoError(t, trace.Close())
	f := readTrace(t, out.Bytes())
	require.Len(t, f.of("X", "outer"), 11)
	require.Len(t, f.of("X", "inner"), 10)
	require.Len(t, f.of("b", "run"), 15)
	outer := f.of("X", "outer")
	for _, leaf := range f.of("X", "inner") { // on the caller's worker, or on one that has stolen it
		require.True(t, slices.ContainsFunc(outer, func(caller traceEvent) bool {
			return caller.Begin <= leaf.Begin && leaf.End <= caller.End
		}), "it runs while its caller waits")
	}
	for _, e := range f.of("C", "") {
		switch e.Name {
		case "workers":
			workers = max(workers, e.Args["running"].(float64))
			require.GreaterOrEqual(t, e.Args["searching"].(float64), 0.0)
		case "queued items":
			queued = max(queued, e.Args["items"].(float64))
		}
	}
	require.Equal(t, "two of them", f.of("M", "")[0].Args["name"])
	return workers, queued
}

// An observer of a trace is for one executor. A second one goes on without it.
func TestTraceObserverTwice(t *testing.T) {
	var out bytes.Buffer
	trace := observe.NewTrace(&out, observe.TraceOptions{Sample: -1})
	o := trace.Observer()
	ran := 0
	for range 2 {
		ex := newExecutor(t, 1, o)
		require.NoError(t, ex.Run(t.Context(), executor.NewJob("f", func(*executor.Scope) error { ran++; return nil })))
		defer ex.Close()
	}
	require.NoError(t, trace.Close())
	require.Equal(t, 2, ran)
	require.Len(t, readTrace(t, out.Bytes()).of("X", "f"), 1)
}

// Observers keep no executor alive that the program has forgotten: the garbage collector closes it.
func TestObserversOfAnAbandonedExecutor(t *testing.T) {
	log.SetOutput(io.Discard) // it says so
	defer log.SetOutput(os.Stderr)
	trace := observe.NewTrace(io.Discard, observe.TraceOptions{Edges: true, Sample: time.Millisecond})
	sw, times := observe.NewSwitch(), observe.NewTimes()
	detached := make(chan struct{})
	func() {
		ex, err := executor.New(executor.Config{Workers: 2, Observers: []*executor.Observer{
			trace.Observer(), times.Observer(), observe.Labels(), observe.RuntimeTrace(), sw.Observer(),
			{Detach: func() { close(detached) }},
		}})
		require.NoError(t, err)
		sw.Set(observe.Labels())
		g, _ := randomGraph(rand.New(rand.NewPCG(1, 1)), 20, func(int) {})
		pprof.Do(t.Context(), pprof.Labels("a", "b"), func(ctx context.Context) {
			for range 10 {
				require.NoError(t, ex.Run(ctx, g))
			}
		})
	}()
	testkit.Until(t, "nothing keeps the executor alive", func() bool {
		runtime.GC()
		select {
		case <-detached:
			return true
		default:
			return false
		}
	})
	require.NoError(t, trace.Close())
}
