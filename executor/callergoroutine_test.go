package executor_test

import (
	"context"
	"iter"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/internal/osthread"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/require"
)

// TestWorkerOfIterator: the iterator of an iter.Pull runs on a goroutine of its own on the task's thread, so it is on
// the task's worker: what it gives to the executor is as from the task. A goroutine that the task starts is on none.
func TestWorkerOfIterator(t *testing.T) {
	if osthread.SelfIsGoroutine {
		t.Skip("no call tells threads here, and an iterator has a goroutine of its own")
	}
	for name, make := range map[string]func() *executor.Executor{
		"own thread": func() *executor.Executor {
			return newExecutor(t, executor.Config{Workers: 1, Callers: executor.IdleCallers, Spares: -1})
		},
		"caller": func() *executor.Executor { return newExecutor(t, executor.Config{Workers: 1, Spares: -1}) },
		"inline": func() *executor.Executor { return executor.NewInline(testkit.Seed(t)) },
	} {
		t.Run(name, func(t *testing.T) {
			ex := make()
			require.NoError(t, ex.Run(context.Background(), one(func(context.Context) error {
				here := ex.WorkerIndex()
				next, stop := iter.Pull(func(yield func(int) bool) {
					g, ran := executor.NewGroup(ex), 0
					g.Go(func() error { ran++; return nil })
					require.NoError(t, g.Wait()) // no other thread can run the function
					require.Equal(t, 1, ran)
					for yield(ex.WorkerIndex()) {
					}
				})
				defer stop()
				for range 3 {
					index, _ := next()
					require.Equal(t, here, index)
				}
				other := 0
				var started sync.WaitGroup
				started.Go(func() { other = ex.WorkerIndex() })
				started.Wait()
				require.Equal(t, -1, other)
				return nil
			})))
			require.Equal(t, -1, ex.WorkerIndex())
		})
	}
}

// TestNoWorkerAfterGuests: goroutines that move from thread to thread are on no worker, whichever threads and
// goroutines guests have just left, and goroutines that end leave their numbers to others.
func TestNoWorkerAfterGuests(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 2})
	var over atomic.Bool
	var bystanders, guests sync.WaitGroup
	for range 4 {
		bystanders.Go(func() {
			for !over.Load() {
				if i := ex.WorkerIndex(); i != -1 {
					t.Errorf("a goroutine outside is on worker %d", i)
					return
				}
				runtime.Gosched()
			}
		})
	}
	task := one(func(context.Context) error {
		runtime.Gosched()
		if ex.WorkerIndex() < 0 {
			t.Error("a task is on no worker")
		}
		return nil
	})
	for range testkit.Count(t, 200) {
		for range 4 {
			guests.Go(func() {
				if err := ex.Run(context.Background(), task); err != nil {
					t.Error(err)
				}
				if i := ex.WorkerIndex(); i != -1 {
					t.Errorf("a caller is on worker %d after its run", i)
				}
			})
		}
		guests.Wait()
	}
	over.Store(true)
	bystanders.Wait()
}
