package executor_test

import (
	"context"
	"runtime"
	"testing"
	"time"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/parallel"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/require"
)

// TestUnlockedThread: tasks, or the C bindings that they call, unlock their thread more often than they have locked it.
// The workers keep their threads.
func TestUnlockedThread(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 2, Callers: executor.IdleCallers})
	threads := ex.Threads()
	for range 50 {
		both := barrier{n: 2}
		require.NoError(t, ex.Run(t.Context(), fan(2, func(context.Context) error {
			both.meet() // a task on each worker
			runtime.UnlockOSThread()
			return nil
		})))
	}
	sum := executor.NewPerWorker(ex, func() int { return 0 })
	for range testkit.Scale(300) {
		for range 10 { // others that could take the threads
			go time.Sleep(time.Millisecond)
		}
		require.NoError(t, parallel.For(t.Context(), parallel.Options{Executor: ex, Grain: 1}, 0, 100, func(int) {
			before := ex.WorkerIndex()
			runtime.Gosched()
			if after := ex.WorkerIndex(); before < 0 || before != after {
				t.Errorf("the worker was %d and is %d", before, after)
			}
			*sum.Local()++
		}))
	}
	require.Equal(t, 100*testkit.Scale(300), sum.Combine(func(a, b int) int { return a + b }))
	require.Equal(t, threads, ex.Threads())
}
