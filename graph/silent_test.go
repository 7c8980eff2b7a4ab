//go:build !modelcheck

package graph_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/graph"
	"github.com/stretchr/testify/require"
)

// layers returns a graph of full layers: each task comes after all of the layer before. The tasks call work.
func layers(depth, width int, work func()) *graph.Graph {
	g := graph.New("layers")
	var before []graph.Task
	for range depth {
		var layer []graph.Task
		for range width {
			t := g.Task(func(context.Context) error { work(); return nil })
			t.Succeed(before...)
			layer = append(layer, t)
		}
		before = layer
	}
	return g
}

// TestMayBeAlone: a worker is never alone with a graph of which any thread may make tasks, or their ends, available.
func TestMayBeAlone(t *testing.T) {
	nothing := func(context.Context) error { return nil }
	choose := func(context.Context) (int, error) { return 0, nil }
	for _, c := range []struct {
		kind string
		add  func(*graph.Graph) graph.Task
		may  bool
	}{
		{"function", func(g *graph.Graph) graph.Task { return g.Task(nothing) }, true},
		{"value", func(g *graph.Graph) graph.Task { return graph.Make(g, choose).Task() }, true},
		{"condition", func(g *graph.Graph) graph.Task { return g.Condition(choose) }, true},
		{"module", func(g *graph.Graph) graph.Task {
			sub := graph.New("sub")
			sub.Task(nothing)
			return g.Module(sub)
		}, true},
		{"module that chooses", func(g *graph.Graph) graph.Task {
			sub := graph.New("sub")
			sub.Condition(choose)
			return g.Module(sub)
		}, false},
		{"limited", func(g *graph.Graph) graph.Task { return g.Task(nothing).Limit(graph.NewSemaphore(1)) }, false},
		{"external", func(g *graph.Graph) graph.Task {
			return g.External(func(_ context.Context, done func(error)) error { done(nil); return nil })
		}, false},
		{"subflow", func(g *graph.Graph) graph.Task {
			return g.Subflow(func(context.Context, *graph.Graph) error { return nil })
		}, false},
		{"retried", func(g *graph.Graph) graph.Task { return g.Retry(graph.RetryPolicy{Tries: 2}, nothing) }, false},
	} {
		t.Run(c.kind, func(t *testing.T) {
			g := graph.New(c.kind)
			c.add(g)
			g.Task(nothing)
			require.NoError(t, newExecutor(t, executor.Config{Workers: 1}).Run(t.Context(), g))
			require.Equal(t, c.may, graph.MayBeAlone(g))
		})
	}
}

// TestSilentEndsAlone: a task of the only worker blocks without Blocking. A spare is called up, and the two have tasks
// of one run. They must count down together then, which the race detector checks.
func TestSilentEndsAlone(t *testing.T) {
	const depth, width = 400, 5
	const nap = 25 * time.Millisecond
	spin := func(d time.Duration) {
		for begin := time.Now(); time.Since(begin) < d; {
		}
	}
	for _, c := range []struct {
		name   string
		before bool // the task that blocks is of a run before the layers; else it is one of theirs
	}{
		{"the worker steals from the spare", true},
		// The worker turns to another run after some tasks, and injects the next one of the layers meanwhile.
		{"the spare takes what the worker has injected", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			ex, err := executor.New(executor.Config{Workers: 1, Callers: executor.IdleCallers})
			require.NoError(t, err)
			var ran atomic.Int64
			var mayBlock, blocks atomic.Bool
			g := layers(depth, width, func() {
				ran.Add(1)
				switch {
				case mayBlock.CompareAndSwap(true, false):
					blocks.Store(true)
					time.Sleep(nap)
					blocks.Store(false)
				case blocks.Load(): // on the spare: it ends after others on the worker
					spin(nap)
				default:
					spin(20 * time.Microsecond)
				}
			})
			other := graph.New("other")
			other.Task(func(context.Context) error {
				if c.before {
					time.Sleep(nap)
				} else {
					mayBlock.Store(true)
				}
				return nil
			})
			var runs []*executor.Run
			if c.before {
				runs = append(runs, ex.Start(t.Context(), other), ex.Start(t.Context(), g))
			} else {
				runs = append(runs, ex.Start(t.Context(), g), ex.Start(t.Context(), other))
			}
			for _, r := range runs {
				require.NoError(t, r.Wait())
			}
			require.NoError(t, ex.Close())
			require.EqualValues(t, depth*width, ran.Load())
		})
	}
}

// TestSilentAndEndings: a task of the only worker blocks without Blocking, and a spare is called up. It ends external
// tasks of the run while the worker runs others, and the two count down successors that these have in common. The race
// detector checks how.
func TestSilentAndEndings(t *testing.T) {
	const externals, tasks = 40, 400 // the external ones and the one that blocks begin before a worker polls
	ex, err := executor.New(executor.Config{Workers: 1, Callers: executor.IdleCallers})
	require.NoError(t, err)
	g := graph.New("endings")
	goesOn := make(chan struct{})
	var lasts []graph.Task
	for range 3 { // of a task with one successor the worker counts down otherwise
		lasts = append(lasts, g.Task(func(context.Context) error { return nil }))
	}
	var dones sync.WaitGroup
	for i := range externals {
		g.External(func(_ context.Context, done func(error)) error {
			dones.Go(func() {
				<-goesOn
				time.Sleep(time.Duration(i) * 50 * time.Microsecond)
				done(nil)
			})
			return nil
		}).Precede(lasts...)
	}
	blocks := g.Task(func(context.Context) error {
		time.Sleep(25 * time.Millisecond)
		close(goesOn)
		return nil
	})
	for range tasks {
		t := g.Task(func(context.Context) error {
			for begin := time.Now(); time.Since(begin) < 20*time.Microsecond; {
			}
			return nil
		})
		t.Succeed(blocks)
		t.Precede(lasts...)
	}
	other := graph.New("other")
	other.Task(func(context.Context) error { return nil })
	run := ex.Start(t.Context(), g)
	require.NoError(t, ex.Start(t.Context(), other).Wait())
	require.NoError(t, run.Wait())
	dones.Wait()
	require.NoError(t, ex.Close())
}
