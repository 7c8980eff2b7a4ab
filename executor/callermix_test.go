package executor_test

import (
	"context"
	"iter"
	"runtime"
	"sync"
	"testing"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/internal/osthread"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/assert"
)

// TestWorkerInMix: WorkerIndex says what the scope says, in tasks of callers and of workers, in runs nested in them and
// in iterators, also after tasks that end by Goexit or a panic and on threads that end.
func TestWorkerInMix(t *testing.T) {
	ctx := context.Background()
	ex := newExecutor(t, executor.Config{Workers: 2, Spares: 2})
	other := newExecutor(t, executor.Config{Workers: 2})
	inOther := func(s *executor.Scope, _ int) int {
		assert.Equal(t, -1, ex.WorkerIndex(), "a task of the other executor")
		assert.Equal(t, s.WorkerIndex(), other.WorkerIndex(), "a task of the other executor")
		return 0
	}
	var task func(s *executor.Scope, depth int) int
	task = func(s *executor.Scope, depth int) int {
		here := s.WorkerIndex()
		assert.Equal(t, here, ex.WorkerIndex(), "at the begin")
		assert.Equal(t, -1, other.WorkerIndex(), "a task of the first executor")
		inline := executor.NewInline(1)
		assert.NoError(t, inline.Run(ctx, one(func(context.Context) error {
			assert.Equal(t, here, ex.WorkerIndex(), "below an inline task")
			assert.Equal(t, 0, inline.WorkerIndex(), "in an inline task")
			if depth > 0 {
				_, err := executor.Call(ctx, other, inOther, 0)
				assert.NoError(t, err)
			}
			return nil
		})))
		assert.Equal(t, -1, inline.WorkerIndex(), "after an inline task")
		if !osthread.SelfIsGoroutine {
			next, stop := iter.Pull(func(yield func(int) bool) {
				for yield(ex.WorkerIndex()) {
				}
			})
			index, _ := next()
			assert.Equal(t, here, index, "in an iterator")
			stop()
		}
		runtime.LockOSThread()
		assert.Equal(t, here, ex.WorkerIndex(), "under a lock of its own")
		runtime.UnlockOSThread()
		executor.Blocking(func() {
			runtime.Gosched()
			assert.Equal(t, here, ex.WorkerIndex(), "in Blocking")
		})
		if depth > 0 {
			_, err := executor.Call(ctx, ex, task, depth-1)
			assert.NoError(t, err)
			assert.Equal(t, here, ex.WorkerIndex(), "after a nested run")
		}
		return 0
	}
	call := func(i int) {
		defer func() {
			assert.Equal(t, -1, ex.WorkerIndex(), "after the run")
			assert.Equal(t, -1, other.WorkerIndex(), "after the run")
		}()
		if i%16 == 3 {
			runtime.LockOSThread() // the thread ends with the goroutine
		}
		_, _ = executor.Call(ctx, ex, func(s *executor.Scope, depth int) int {
			task(s, depth)
			switch i % 8 {
			case 1:
				runtime.Goexit()
			case 2:
				panic("a failure")
			}
			return 0
		}, 2)
	}
	var callers sync.WaitGroup
	for range 4 {
		callers.Go(func() {
			for i := range testkit.Count(t, 64) {
				var caller sync.WaitGroup
				caller.Go(func() { call(i) })
				caller.Wait()
			}
		})
	}
	callers.Wait()
}
