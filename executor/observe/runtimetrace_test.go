package observe_test

import (
	"bytes"
	"context"
	"runtime/trace"
	"testing"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/observe"
	"github.com/magpie-go/magpie/graph"
	"github.com/stretchr/testify/require"
)

// Runs and tasks are in a runtime trace, also those in a task that waits. Without a trace nothing is noted.
func TestRuntimeTrace(t *testing.T) {
	if trace.IsEnabled() {
		t.Skip("a trace is being taken already")
	}
	ex := newExecutor(t, 2, observe.RuntimeTrace())
	inner := graph.New("inner job")
	inner.Task(func(context.Context) error { return nil }).Named("leaf task")
	outer := graph.New("outer job")
	outer.Task(func(ctx context.Context) error { return ex.Run(ctx, inner) }).Named("waiting task")
	before := graph.New("job before")
	started, done := make(chan struct{}), make(chan struct{})
	before.Task(func(context.Context) error { close(started); <-done; return nil }).Named("task before")

	require.NoError(t, ex.Run(t.Context(), outer))
	r := ex.Start(t.Context(), before)
	<-started
	var out bytes.Buffer
	require.NoError(t, trace.Start(&out))
	ctx, task := trace.NewTask(t.Context(), "around")
	for range 3 {
		require.NoError(t, ex.Run(ctx, outer))
	}
	_, err := executor.Async(ctx, ex, func(context.Context) (int, error) { return 1, nil }).Wait()
	require.NoError(t, err)
	task.End()
	close(done)
	require.NoError(t, r.Wait())
	require.NoError(t, ex.Close())
	trace.Stop()
	for _, name := range []string{"outer job", "waiting task", "inner job", "leaf task"} {
		require.Contains(t, out.String(), name)
	}
	require.NotContains(t, out.String(), "task before")
}
