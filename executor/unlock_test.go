package executor_test

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
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

// TestUnlockedCaller: a task that a caller runs unlocks the thread more often than it has locked it. The task stays on
// its worker, also for a nested run, and others are not taken for the worker.
func TestUnlockedCaller(t *testing.T) {
	for name, ex := range map[string]*executor.Executor{
		"guest":  newExecutor(t, executor.Config{Workers: 1, Spares: -1}),
		"inline": executor.NewInline(1),
	} {
		t.Run(name, func(t *testing.T) {
			var over atomic.Bool
			var strangers atomic.Int64
			var others sync.WaitGroup
			for range 8 { // others that could take the thread
				others.Go(func() {
					for !over.Load() {
						if ex.WorkerIndex() >= 0 {
							strangers.Add(1)
						}
						time.Sleep(20 * time.Microsecond)
					}
				})
			}
			require.NoError(t, ex.Run(t.Context(), executor.NewJob("unlocks", func(s *executor.Scope) error {
				runtime.UnlockOSThread()
				runtime.UnlockOSThread()
				for range testkit.Scale(100) {
					time.Sleep(50 * time.Microsecond)
					if index := ex.WorkerIndex(); index != 0 {
						t.Errorf("the worker is %d", index)
					}
					if err := ex.Run(s.Context(), fan(1, func(context.Context) error { return nil })); err != nil {
						return err
					}
				}
				return nil
			})))
			over.Store(true)
			others.Wait()
			require.Zero(t, strangers.Load(), "goroutines outside that were taken for the worker")
		})
	}
}
