package executor_test

import (
	"context"
	"testing"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/graph"
	"github.com/stretchr/testify/require"
)

// A worker on whose thread an inline executor has run something, or runs it, is still that worker.
func TestInlineInTask(t *testing.T) {
	inTask := func(outer, inner *executor.Executor, f func(context.Context) error) error {
		return outer.Run(t.Context(), one(func(ctx context.Context) error {
			return inner.Run(ctx, one(f))
		}))
	}
	onInlineToo(t, func(t *testing.T, ex *executor.Executor) {
		in := executor.NewInline(1)
		nested := func(ctx context.Context) error { return ex.Run(ctx, fan(3, nothing)) }

		t.Run("after", func(t *testing.T) {
			within(t, ex, func() {
				require.NoError(t, ex.Run(t.Context(), one(func(ctx context.Context) error {
					if err := in.Run(ctx, one(nothing)); err != nil {
						return err
					}
					require.ErrorIs(t, ex.Close(), executor.ErrInTask)
					return nested(ctx)
				})))
			})
		})
		t.Run("within", func(t *testing.T) {
			within(t, ex, func() {
				require.NoError(t, inTask(ex, in, func(ctx context.Context) error {
					require.ErrorIs(t, ex.Close(), executor.ErrInTask)
					require.ErrorIs(t, in.Close(), executor.ErrInTask)
					if _, err := executor.Async(ctx, ex, func(ctx context.Context) (int, error) { return 0, nested(ctx) }).Wait(); err != nil {
						return err
					}
					return nested(ctx)
				}))
			})
		})
		t.Run("scope", func(t *testing.T) { // of the outer executor, used by the function that it was given to
			within(t, ex, func() {
				require.NoError(t, ex.Run(t.Context(), executor.Func("f", func(s *executor.Scope) error {
					ran := false
					err := in.Run(s.Context(), one(func(context.Context) error {
						s.Go(func(context.Context) error { ran = true; return nil })
						return s.Wait()
					}))
					require.True(t, ran)
					return err
				})))
			})
		})
		t.Run("semaphore", func(t *testing.T) { // a permit given back starts the inline run's task
			within(t, ex, func() {
				semaphore := graph.NewSemaphore(1)
				held, put := make(chan int), make(chan int)
				g := graph.New("g")
				first := g.Task(func(context.Context) error { close(held); <-put; return nil }).Limit(semaphore)
				first.Precede(g.Task(nested))
				result := make(chan error)
				go func() { result <- ex.Run(t.Context(), g) }()
				<-held
				h := graph.New("h")
				h.Task(nested).Limit(semaphore)
				r := in.Start(t.Context(), h)
				close(put)
				require.NoError(t, <-result)
				require.NoError(t, r.Wait())
			})
		})
		require.NoError(t, in.Close())
	})
}

// onInlineToo runs a test for executors with threads and one without.
func onInlineToo(t *testing.T, f func(t *testing.T, ex *executor.Executor)) {
	onEach(t, []int{1, 2}, f)
	t.Run("inline", func(t *testing.T) {
		ex := executor.NewInline(2)
		f(t, ex)
		within(t, ex, func() { require.NoError(t, ex.Close()) })
	})
}

// Blocking in a task of an inline executor stands in for the worker on whose thread that is.
func TestInlineBlocking(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 1, Spares: 1})
	in := executor.NewInline(1)
	within(t, ex, func() {
		require.NoError(t, ex.Run(t.Context(), one(func(ctx context.Context) error {
			other := make(chan error)
			return in.Run(ctx, one(func(context.Context) error {
				go func() { other <- ex.Run(t.Context(), one(nothing)) }()
				var err error
				executor.Blocking(func() { err = <-other })
				return err
			}))
		})))
	})
	require.NoError(t, in.Close())
}
