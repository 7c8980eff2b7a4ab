package graph_test

import (
	"context"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/parallel"
	"github.com/magpie-go/magpie/executor/pipeline"
	"github.com/magpie-go/magpie/graph"
	"github.com/stretchr/testify/require"
)

// What the test suites and issues of other libraries try with limits.

// oneTBB, test_function_node with a limit, and task_arena, and conc#55: a body is called a hundred times, at most three
// times at once. The first three calls wait for each other, so that a smaller limit would be noticed.
func TestRivalsLimit(t *testing.T) {
	const calls, most = 100, 3
	for form, each := range map[string]func(ctx context.Context, ex *executor.Executor, body func()) error{
		"function_node": func(ctx context.Context, ex *executor.Executor, body func()) error {
			items := pipeline.SourceSeq("items", 10, slices.Values(make([]struct{}, calls)))
			_, err := pipeline.Collect(ctx, ex, pipeline.Map(items, pipeline.Parallel,
				func(_ *pipeline.Token, item struct{}) (struct{}, error) { body(); return item, nil }).MaxTokens(most))
			return err
		},
		"task_arena": func(ctx context.Context, ex *executor.Executor, body func()) error {
			loop := executor.NewJob("loop", func(s *executor.Scope) error {
				return parallel.For(s.Context(), parallel.Options{Grain: 1}, 0, calls, func(int) { body() })
			})
			return ex.Run(ctx, executor.With(loop, executor.RunOptions{Workers: most}))
		},
		"tasks": func(ctx context.Context, ex *executor.Executor, body func()) error {
			g, few := graph.New("tasks"), graph.NewSemaphore(most)
			for range calls {
				g.Task(func(context.Context) error { body(); return nil }).Hold(few)
			}
			return ex.Run(ctx, g)
		},
		"group": func(ctx context.Context, ex *executor.Executor, body func()) error {
			g, _ := executor.GroupWithContext(ctx, ex)
			g.SetLimit(most)
			for range calls {
				g.Go(func() error { body(); return nil })
			}
			return g.Wait()
		},
	} {
		t.Run(form, func(t *testing.T) {
			ex := newExecutor(t, executor.Config{Workers: 2 * most})
			first := newBarrier(most)
			var n, now atomic.Int64
			within(t, ex, func() {
				require.NoError(t, each(t.Context(), ex, func() {
					if now.Add(1) > most {
						t.Error("too many at once")
					}
					if n.Add(1) <= most {
						first.meet()
					}
					now.Add(-1)
				}))
			})
			require.EqualValues(t, calls, n.Load())
		})
	}
}

// Taskflow, semaphores that one task acquires and another releases: of ten conversations, each of three tasks, at most
// two have a line. A run that fails gives its lines back.
func TestRivalsHeldPermits(t *testing.T) {
	everyExecutor(t, []int{1, 3}, func(t *testing.T, ex *executor.Executor) {
		lines := graph.NewSemaphore(2)
		var now, talked atomic.Int64
		g := graph.New("conversations")
		for range 10 {
			dial := g.Task(func(context.Context) error {
				if now.Add(1) > 2 {
					t.Error("too many lines")
				}
				return nil
			}).Acquire(lines)
			talk := g.Task(func(context.Context) error { talked.Add(1); return nil })
			hangUp := g.Task(func(context.Context) error { now.Add(-1); return nil }).Release(lines)
			dial.Precede(talk)
			talk.Precede(hangUp)
		}
		for range 3 {
			require.NoError(t, ex.Run(t.Context(), g))
		}
		require.EqualValues(t, 30, talked.Load())

		g.Task(func(context.Context) error { return errTask }).Acquire(lines)
		require.ErrorIs(t, ex.Run(t.Context(), g), errTask)
		require.True(t, lines.TryAcquire(2))
	})
}
