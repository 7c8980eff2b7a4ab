package executor_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/magpie-go/magpie/executor"
	"github.com/stretchr/testify/require"
)

type attempt = func(context.Context) (string, error)

// until waits for its context to end.
func until(ctx context.Context) (string, error) {
	<-ctx.Done()
	return "", ctx.Err()
}

func TestFirst(t *testing.T) {
	onEach(t, []int{1, 2, 4}, func(t *testing.T, ex *executor.Executor) {
		within(t, ex, func() {
			ctx := t.Context()
			good := func(context.Context) (string, error) { return "good", nil }
			bad := func(context.Context) (string, error) { return "bad", errTest }
			other := errors.New("other")
			for _, fns := range [][]attempt{{good}, {good, bad}, {bad, good, bad}, {good, good}} {
				got, err := executor.First(ctx, ex, fns...)
				require.NoError(t, err)
				require.Equal(t, "good", got)
			}
			got, err := executor.First(ctx, ex, bad, func(context.Context) (string, error) { return "", other })
			require.ErrorIs(t, err, errTest)
			require.ErrorIs(t, err, other)
			require.Empty(t, got)

			// What runs is cancelled, what has not begun is left out.
			if ex.Workers() > 1 {
				got, err = executor.First(ctx, ex, until, good)
				require.NoError(t, err)
				require.Equal(t, "good", got)
			}
			var calls atomic.Int32
			many := make([]attempt, 1000)
			for i := range many {
				many[i] = func(context.Context) (string, error) { calls.Add(1); return "one", nil }
			}
			_, err = executor.First(ctx, ex, many...)
			require.NoError(t, err)
			require.LessOrEqual(t, int(calls.Load()), 2*ex.Workers())

			// A panic is no result, and a failure like others.
			var p *executor.PanicError
			boom := func(context.Context) (string, error) { panic("boom") }
			_, err = executor.First(ctx, ex, bad, boom)
			require.ErrorAs(t, err, &p)
			got, err = executor.First(ctx, ex, boom, good)
			require.NoError(t, err)
			require.Equal(t, "good", got)

			ended, cancel := context.WithCancelCause(ctx)
			cancel(errTest)
			_, err = executor.First(ended, ex, good)
			require.ErrorIs(t, err, errTest)

			// From a task.
			require.NoError(t, ex.Run(ctx, one(func(ctx context.Context) error {
				_, err := executor.First(ctx, ex, bad, good)
				return err
			})))
		})
	})
	ex := newExecutor(t, executor.Config{Workers: 1})
	require.Panics(t, func() { _, _ = executor.First[int](t.Context(), ex) })
	require.Panics(t, func() { _, _ = executor.First[int](t.Context(), ex, nil) })
}
