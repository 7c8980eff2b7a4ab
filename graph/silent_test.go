//go:build !modelcheck

package graph_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/magpie-go/magpie/deque"
	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/experiment"
	"github.com/magpie-go/magpie/graph"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// layers returns a graph of full layers: each task comes after all of the layer before. The tasks call work.
func layers(depth, width int, work func()) *graph.Graph {
	return layersOf(slices.Repeat([]int{width}, depth), work)
}

// layersOf is layers for layers of those widths.
func layersOf(widths []int, work func()) *graph.Graph {
	g := graph.New("layers")
	var before []graph.Task
	for _, width := range widths {
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
		{"value", func(g *graph.Graph) graph.Task { return graph.Source(g, choose).Task() }, true},
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
		{"limited", func(g *graph.Graph) graph.Task { return g.Task(nothing).Hold(graph.NewSemaphore(1)) }, false},
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

// nap is long enough for a task that sleeps to be found.
const nap = 25 * time.Millisecond

func spin(d time.Duration) {
	for begin := time.Now(); time.Since(begin) < d; {
	}
}

// A napper is the work of tasks of which one sleeps. Those that run meanwhile, on a spare, end after others on the
// worker.
type napper struct {
	naps   atomic.Int64 // the number, in the order in which the tasks begin, of the one that sleeps; 0: none
	begun  atomic.Int64
	sleeps atomic.Bool
}

func newNapper(naps int64) *napper {
	n := &napper{}
	n.naps.Store(naps)
	return n
}

func (n *napper) work() {
	switch {
	case n.begun.Add(1) == n.naps.Load():
		n.sleeps.Store(true)
		time.Sleep(nap)
		n.sleeps.Store(false)
	case n.sleeps.Load():
		spin(nap)
	default:
		spin(20 * time.Microsecond)
	}
}

// TestSilentEndsAlone: a task of the only worker blocks without Blocking. A spare is called up, and the two have tasks
// of one run. They must count down together then, which the race detector checks.
func TestSilentEndsAlone(t *testing.T) {
	const depth, width = 400, 5
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
			n := newNapper(0)
			g := layers(depth, width, n.work)
			other := graph.New("other")
			other.Task(func(context.Context) error {
				if c.before {
					time.Sleep(nap)
				} else {
					n.naps.Store(n.begun.Load() + 1) // the next one
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
			require.EqualValues(t, depth*width, n.begun.Load())
		})
	}
}

// TestSilentAfterGuest: the guest of the only worker leaves, and the worker's own thread goes on with the tasks that
// the guest has handed over. The first of them sleeps, and the spare runs others.
func TestSilentAfterGuest(t *testing.T) {
	ex, err := executor.New(executor.Config{Workers: 1, Callers: executor.BriefCallers})
	require.NoError(t, err)
	testkit.Until(t, "the worker sleeps", func() bool { return strings.Contains(dumpOf(ex)(), "worker 0: parked") })
	n := newNapper(2)
	g := layersOf([]int{1, 5, 5, 5}, func() {
		if n.begun.Load() == 0 {
			spin(time.Millisecond) // the guest leaves before its next task
		}
		n.work()
	})
	require.NoError(t, ex.Run(t.Context(), g))
	require.NoError(t, ex.Close())
	require.EqualValues(t, 16, n.begun.Load())
}

// TestSilentAfterWait: a task waits for a run whose first item lies in the lane, below tasks of the waiting one's run.
// These go to the injector. The next one sleeps, and the spare runs others.
func TestSilentAfterWait(t *testing.T) {
	ex, err := executor.New(executor.Config{Workers: 1, Callers: executor.IdleCallers})
	require.NoError(t, err)
	n := newNapper(7)
	inner := layers(1, 1, func() {})
	var run *executor.Run
	g := layers(4, 5, func() {
		n.work()
		switch n.begun.Load() {
		case 5: // the last of its layer
			run = ex.Start(context.Background(), inner)
		case 6:
			assert.NoError(t, run.Wait())
		}
	})
	require.NoError(t, ex.Run(t.Context(), g))
	require.NoError(t, ex.Close())
	require.EqualValues(t, 20, n.begun.Load())
}

// TestSilentFIFO: in a lane that is first in, first out, a spare sees the tasks of the only worker.
func TestSilentFIFO(t *testing.T) {
	ex, err := executor.New(executor.Config{
		Workers: 1, Callers: executor.IdleCallers, Experiment: experiment.Options{Deque: deque.KindBWoSFIFO, BlockSize: 1},
	})
	require.NoError(t, err)
	n := newNapper(11)
	require.NoError(t, ex.Run(t.Context(), layers(6, 5, n.work)))
	require.NoError(t, ex.Close())
	require.EqualValues(t, 30, n.begun.Load())
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
		time.Sleep(nap)
		close(goesOn)
		return nil
	})
	for range tasks {
		t := g.Task(func(context.Context) error { spin(20 * time.Microsecond); return nil })
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
