package executor_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/graph"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/require"
)

// skipping has works of each kind, in which a failure or cancellation has tasks skipped. Each makes so many tasks on
// ex, whose functions count their calls.
var skipping = map[string]func(ctx context.Context, ex *executor.Executor, calls *atomic.Int64) (tasks int){
	"graph": func(ctx context.Context, ex *executor.Executor, calls *atomic.Int64) int {
		_ = ex.Run(ctx, chain(50, fails(calls)))
		return 50
	},
	"wide graph": func(ctx context.Context, ex *executor.Executor, calls *atomic.Int64) int {
		g := graph.New("wide")
		source := g.Task(fails(calls))
		for range 5000 {
			source.Precede(g.Task(fails(calls)))
		}
		_ = ex.Run(ctx, g)
		return 5001
	},
	"graph that keeps going": func(ctx context.Context, ex *executor.Executor, calls *atomic.Int64) int {
		g := chain(50, fails(calls))
		g.Task(fails(calls))
		_ = ex.Run(ctx, graph.KeepGoing(g))
		return 51
	},
	"graph with priorities": func(ctx context.Context, ex *executor.Executor, calls *atomic.Int64) int {
		g := graph.New("ranked")
		for i := range 50 {
			g.Task(fails(calls)).Priority([]graph.Priority{graph.Low, graph.High}[i%2])
		}
		_ = ex.Run(ctx, g)
		return 50
	},
	"graph with values and parts": func(ctx context.Context, ex *executor.Executor, calls *atomic.Int64) int {
		g := graph.New("values")
		first := g.Task(fails(calls))
		value := graph.Source(g, func(context.Context) (int, error) { calls.Add(1); return 1, nil })
		part := g.Subflow(func(context.Context, *graph.Graph) error { calls.Add(1); return nil })
		first.Precede(value.Task(), part)
		_ = ex.Run(ctx, g)
		return 3
	},
	"scope": func(ctx context.Context, ex *executor.Executor, calls *atomic.Int64) int {
		_ = ex.Run(ctx, executor.NewJob("scope", func(s *executor.Scope) error {
			calls.Add(1)
			for range 50 {
				s.Go(fails(calls))
			}
			return s.Wait()
		}))
		return 51
	},
	"root": func(ctx context.Context, ex *executor.Executor, calls *atomic.Int64) int {
		_ = ex.Run(ctx, executor.NewJob("outer", func(s *executor.Scope) error {
			calls.Add(1)
			run := ex.Start(context.Background(), executor.NewJob("inner", func(*executor.Scope) error {
				calls.Add(1)
				return nil
			}))
			run.Cancel(nil)
			return run.Wait()
		}))
		return 2
	},
	"group": func(ctx context.Context, ex *executor.Executor, calls *atomic.Int64) int {
		g := executor.NewGroup(ex)
		for range 50 {
			g.GoContext(fails(calls))
		}
		_ = g.Wait()
		return 50
	},
	"group with an order": func(ctx context.Context, ex *executor.Executor, calls *atomic.Int64) int {
		g := executor.NewGroup(ex)
		g.KeepGoing()
		last := g.GoAfter(fails(calls))
		for range 10 {
			last = g.GoAfter(fails(calls), last)
		}
		_ = g.Wait()
		return 11
	},
	"futures": func(ctx context.Context, ex *executor.Executor, calls *atomic.Int64) int {
		future := func(ctx context.Context) (int, error) { return 0, fails(calls)(ctx) }
		before := executor.Async(ctx, ex, future)
		after := executor.Async(ctx, ex, future, before)
		_, _ = after.Wait()
		return 2
	},
	"cancelled future": func(ctx context.Context, ex *executor.Executor, calls *atomic.Int64) int {
		future := executor.Async(ctx, ex, func(ctx context.Context) (int, error) { return 0, fails(calls)(ctx) })
		future.Cancel(nil)
		_, _ = future.Wait()
		return 1
	},
}

func fails(calls *atomic.Int64) func(context.Context) error {
	return func(context.Context) error {
		calls.Add(1)
		return errTest
	}
}

// Tasks that were called are counted as such, and the others as skipped, whether observers are told of them or not.
func TestStatsCountSkippedTasks(t *testing.T) {
	for name, work := range skipping {
		t.Run(name, func(t *testing.T) {
			onEach(t, []int{1, 2}, func(t *testing.T, ex *executor.Executor) { countSkipped(t, ex, work) })
			for _, told := range []bool{false, true} {
				for workers := range 3 {
					var skips atomic.Int64
					cfg := executor.Config{Workers: workers}
					if told {
						cfg.Observers = []*executor.Observer{{TaskSkip: func(*executor.Event) { skips.Add(1) }}}
					}
					ex := executor.NewInline(1, cfg.Observers...)
					if workers > 0 {
						ex = newExecutor(t, cfg)
					}
					skipped := countSkipped(t, ex, work)
					if told && name != "futures" && name != "cancelled future" {
						require.Equal(t, skipped, skips.Load())
					}
				}
			}
		})
	}
}

func countSkipped(
	t *testing.T, ex *executor.Executor, work func(context.Context, *executor.Executor, *atomic.Int64) int,
) int64 {
	var calls atomic.Int64
	var tasks int
	within(t, ex, func() {
		tasks = work(t.Context(), ex, &calls)
		// A future that is cancelled ends before a worker comes to its item.
		eventually(func() bool {
			total := ex.Stats().Total
			return total.Tasks+total.Skipped >= uint64(tasks)
		})
	})
	total := ex.Stats().Total
	require.EqualValues(t, calls.Load(), total.Tasks, "tasks")
	require.EqualValues(t, int64(tasks)-calls.Load(), total.Skipped, "skipped")
	return int64(total.Skipped)
}

// A child that is too deep is not called: it counts as skipped, and observers are told of it as of a skipped task.
func TestStatsCountAChildTooDeep(t *testing.T) {
	if testkit.Race {
		return // see TestTooDeepInOneRun
	}
	for _, told := range []bool{false, true} {
		t.Run(fmt.Sprintf("observed=%t", told), func(t *testing.T) {
			cfg := executor.Config{Workers: 1}
			skips, begun := 0, 0 // of children
			if told {
				cfg.Observers = []*executor.Observer{{
					TaskBegin: func(*executor.Event) { begun++ },
					TaskSkip: func(e *executor.Event) {
						skips++
						require.Equal(t, executor.ErrTooDeep, e.Err)
						require.Equal(t, "child", e.Task.Name)
					},
				}}
			}
			ex := newExecutor(t, cfg)
			calls := 0
			var deeper func(*executor.Scope) error
			deeper = func(s *executor.Scope) error {
				calls++
				s.Spawn(deeper)
				return nil
			}
			within(t, ex, func() {
				require.ErrorIs(t, ex.Run(t.Context(), executor.NewJob("deep", deeper)), executor.ErrTooDeep)
			})
			total := ex.Stats().Total
			require.EqualValues(t, calls, total.Tasks, "tasks")
			require.EqualValues(t, 1, total.Skipped, "skipped")
			if told {
				require.Equal(t, calls, begun, "told as begun")
				require.Equal(t, 1, skips, "told as skipped")
			}
		})
	}
}

// A future that is cancelled while it waits for another gets to no worker, and is not counted.
func TestStatsLeaveOutAFutureCancelledBefore(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 1})
	within(t, ex, func() {
		before := executor.NewPromise[int](t.Context(), ex)
		after := executor.Async(t.Context(), ex, func(context.Context) (int, error) { return 0, nil }, before.Future())
		after.Cancel(nil)
		_, err := after.Wait()
		require.ErrorIs(t, err, context.Canceled)
		before.Resolve(0)
		require.NoError(t, ex.Run(t.Context(), one(nothing)))
	})
	total := ex.Stats().Total
	require.EqualValues(t, 1, total.Tasks, "tasks")
	require.Zero(t, total.Skipped, "skipped")
}
