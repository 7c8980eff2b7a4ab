package executor_test

import (
	"context"
	"testing"

	"github.com/magpie-go/magpie/executor"
	"github.com/stretchr/testify/require"
)

// A helper that finds its run over in the middle of another one's chain puts the next item into the injector. It has
// not run that item, and must not count it: the worker that runs it does.
func TestStatsOfRunLeftBehind(t *testing.T) {
	const tasks = 1000 // more than a helper runs without looking whether its run is over
	ex := newExecutor(t, executor.Config{Workers: 1})
	var left *executor.Run
	within(t, ex, func() {
		inner := one(func(context.Context) error {
			left = ex.Start(context.Background(), chain(tasks, func(context.Context) error { return nil }))
			return nil
		})
		require.NoError(t, ex.Run(t.Context(), one(func(ctx context.Context) error { return ex.Run(ctx, inner) })))
		require.NoError(t, left.Wait())
	})
	require.Equal(t, uint64(1+1+tasks), ex.Stats().Total.Tasks)
}
