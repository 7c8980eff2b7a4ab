package executor_test

import (
	"context"
	"testing"

	"github.com/magpie-go/magpie/executor"
	"github.com/stretchr/testify/require"
)

func TestRunN(t *testing.T) {
	onEach(t, []int{1, 2}, func(t *testing.T, ex *executor.Executor) {
		runs := 0
		job := one(func(context.Context) error { runs++; return nil })
		require.NoError(t, ex.RunN(t.Context(), job, 0))
		require.NoError(t, ex.RunN(t.Context(), job, -1))
		require.Zero(t, runs)
		require.NoError(t, ex.RunN(t.Context(), job, 5))
		require.Equal(t, 5, runs)
		require.NoError(t, ex.RunUntil(t.Context(), job, func() bool { return runs == 8 }))
		require.Equal(t, 8, runs)

		failing := one(func(context.Context) error {
			if runs++; runs == 10 {
				return errTest
			}
			return nil
		})
		require.ErrorIs(t, ex.RunN(t.Context(), failing, 5), errTest)
		require.Equal(t, 10, runs)
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(errTest)
		require.ErrorIs(t, ex.RunN(ctx, job, 3), errTest)
		require.NoError(t, ex.RunN(ctx, job, 0), "nothing to run")
		require.Equal(t, 10, runs)
	})
}

// TestTooDeep: runs in each other use up a worker's stack. Before that ends the process, a run is refused.
func TestTooDeep(t *testing.T) {
	onEach(t, []int{1, 2}, func(t *testing.T, ex *executor.Executor) {
		depth := 0
		var deeper func(ctx context.Context) error
		deeper = func(ctx context.Context) error {
			depth++
			return ex.Run(ctx, one(deeper))
		}
		if ex.Workers() > 1 {
			return // each level may run on another worker: nothing is too deep
		}
		within(t, ex, func() {
			require.ErrorIs(t, ex.Run(t.Context(), one(deeper)), executor.ErrTooDeep)
			require.Greater(t, depth, 1000)
			require.NoError(t, ex.Run(t.Context(), one(nothing)))
		})
	})
}
