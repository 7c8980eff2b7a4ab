package executor_test

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/experiment"
	"github.com/magpie-go/magpie/graph"
	"github.com/magpie-go/magpie/internal/osthread"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/require"
)

// bothForms runs a test under every policy with Config.Experiment.Verbatim and without it.
func bothForms(t *testing.T, workers int, f func(t *testing.T, ex *executor.Executor, verbatim bool)) {
	for _, p := range testkit.Some(t, usable()) {
		for _, verbatim := range []bool{false, true} {
			t.Run(fmt.Sprintf("%v/verbatim=%t", p, verbatim), func(t *testing.T) {
				ex := newExecutor(t, executor.Config{
					Workers: workers, Experiment: experiment.Options{Policy: p, Verbatim: verbatim},
				})
				within(t, ex, func() { f(t, ex, verbatim) })
			})
		}
	}
}

// sources is a graph of n tasks without edges.
func sources(n int, f func(i int)) *graph.Graph {
	g := graph.New("sources")
	for i := range n {
		g.Task(func(context.Context) error {
			f(i)
			return nil
		})
	}
	return g
}

// Each source is in the queue of submissions by itself, in the order in which the sources were added. A condition or a
// priority makes no difference.
func TestVerbatimSources(t *testing.T) {
	const n = 20
	bothForms(t, 1, func(t *testing.T, ex *executor.Executor, verbatim bool) {
		for _, kind := range []string{"plain", "chooses", "ranked"} {
			var ran []int
			g := sources(n, func(i int) { ran = append(ran, i) })
			switch kind {
			case "chooses":
				c := g.Condition(func(context.Context) (int, error) { return 0, nil })
				c.Precede(g.Task(func(context.Context) error { return nil }))
			case "ranked":
				g.Task(func(context.Context) error { return nil }).Priority(graph.Low)
			}
			var begun, release atomic.Bool
			held := ex.Start(t.Context(), one(func(context.Context) error {
				begun.Store(true)
				eventually(release.Load)
				return nil
			}))
			eventually(begun.Load)
			r := ex.Start(t.Context(), g)
			want := 1
			if verbatim {
				want = n
				if kind != "plain" {
					want++ // the condition, or the task of low priority
				}
			}
			require.Equal(t, want, ex.Injected(), kind)
			release.Store(true)
			require.NoError(t, held.Wait())
			require.NoError(t, r.Wait())
			require.Len(t, ran, n)
			if verbatim {
				require.True(t, slices.IsSorted(ran), "%s: %v", kind, ran)
			}
		}
	})
}

// A task pushes each successor that it makes ready but one, and a task that starts a run pushes each source. One worker
// pops each of these from its own deque. A graph that has run in one form runs in the other as if it were new.
func TestVerbatimPushesEachTask(t *testing.T) {
	const n = 50
	nothing := func(context.Context) error { return nil }
	wide, many := fan(n, nothing), sources(n, func(int) {})
	wide.Task(nothing) // a second source
	bothForms(t, 1, func(t *testing.T, ex *executor.Executor, verbatim bool) {
		pops := func(f func()) int {
			before := ex.Stats()
			f()
			d := ex.Stats().Sub(before).Total
			require.Zero(t, d.StealsWon)
			return int(d.Pops)
		}
		for range 3 {
			popped := pops(func() { require.NoError(t, ex.Run(t.Context(), wide)) })
			nested := pops(func() {
				start := func(ctx context.Context) error { return ex.Run(ctx, many) }
				require.NoError(t, ex.Run(t.Context(), one(start)))
			})
			if verbatim {
				require.Equal(t, n-1, popped)
				require.Equal(t, n, nested)
			} else {
				require.Less(t, popped, n/2)
				require.Less(t, nested, n/2)
			}
		}
	})
}

// A thief takes one task by a steal, of however many a task has made ready.
func TestVerbatimStealsEachTask(t *testing.T) {
	const n = 50
	bothForms(t, 2, func(t *testing.T, ex *executor.Executor, verbatim bool) {
		var busy, ran atomic.Int64 // busy is the thread that has run the source
		g := graph.New("wide")
		source := g.Task(func(context.Context) error {
			busy.Store(osthread.ID())
			return nil
		})
		for range n {
			source.Precede(g.Task(func(context.Context) error {
				if osthread.ID() == busy.Load() {
					eventually(func() bool { return ran.Load() == n-1 })
				}
				ran.Add(1)
				return nil
			}))
		}
		before := ex.Stats()
		require.NoError(t, ex.Run(t.Context(), g))
		won := int(ex.Stats().Sub(before).Total.StealsWon)
		if verbatim {
			require.Equal(t, n-1, won)
		} else {
			require.Less(t, won, n/2)
		}
	})
}

// A worker that is busy does not turn to a run that is submitted meanwhile.
func TestVerbatimDoesNotPoll(t *testing.T) {
	for _, p := range testkit.Some(t, usable()) {
		t.Run(p, func(t *testing.T) {
			ex := newExecutor(t, executor.Config{Workers: 1, Experiment: experiment.Options{Policy: p, Verbatim: true}})
			within(t, ex, func() {
				var stop atomic.Bool
				var items, ran atomic.Int64
				busy := ex.Start(t.Context(),
					newLayer("endless", func(_ *executor.Worker, self *executor.Item) *executor.Item {
						if items.Add(1); stop.Load() {
							return nil
						}
						return self
					}))
				eventually(func() bool { return items.Load() > 0 })
				later := ex.Start(t.Context(), count(&ran))
				from := items.Load()
				eventually(func() bool { return items.Load() > from+100*executor.PollInterval })
				require.Zero(t, ran.Load(), "the run began although the worker is busy")
				stop.Store(true)
				require.NoError(t, busy.Wait())
				require.NoError(t, later.Wait())
				require.EqualValues(t, 1, ran.Load())
			})
		})
	}
}

// A several is a job that begins with several items. It counts how often a worker turns to it.
type several struct {
	*layer
	steps []step
	turns atomic.Int64
}

func newSeveral(steps ...step) *several {
	s := &several{layer: newLayer("several", nil), steps: steps}
	s.Body.Init(s)
	return s
}

func (s *several) Begin(r *executor.JobRun) (*executor.Item, error) {
	var items []*executor.Item
	for _, f := range s.steps {
		items = append(items, s.item(f))
	}
	r.BeginWith(slices.Values(items[1:]))
	return items[0], nil
}

// Alone implements executor.Hooks.
func (s *several) Alone() bool { return true }

func (s *several) Enter(w *executor.Worker) {
	s.turns.Add(1)
	s.layer.Enter(w)
}

// One worker has a deque as any other has, and becomes a thief for each item that it takes from the queue of
// submissions.
func TestVerbatimOneWorker(t *testing.T) {
	bothForms(t, 1, func(t *testing.T, ex *executor.Executor, verbatim bool) {
		var s *several
		alone := 0
		look := func(w *executor.Worker, _ *executor.Item) *executor.Item {
			if s.Run().Alone(w) {
				alone++
			}
			return nil
		}
		s = newSeveral(look, look, look)
		require.NoError(t, ex.Run(t.Context(), s))
		require.Equal(t, !verbatim, alone > 0)
		if verbatim {
			require.EqualValues(t, 3, s.turns.Load())
		}
	})
}

// The items that a job begins with are run once each, in whatever form the executor is, whoever starts the run.
func TestBeginWith(t *testing.T) {
	const n = 30
	bothForms(t, 2, func(t *testing.T, ex *executor.Executor, _ bool) {
		for _, nested := range []bool{false, true} {
			var ran [n]atomic.Int64
			var steps []step
			for i := range n {
				steps = append(steps, func(*executor.Worker, *executor.Item) *executor.Item {
					ran[i].Add(1)
					return nil
				})
			}
			start := func(ctx context.Context) error { return ex.Run(ctx, newSeveral(steps...)) }
			if nested {
				require.NoError(t, ex.Run(t.Context(), one(start)))
			} else {
				require.NoError(t, start(t.Context()))
			}
			for i := range n {
				require.EqualValues(t, 1, ran[i].Load())
			}
		}
	})
}
