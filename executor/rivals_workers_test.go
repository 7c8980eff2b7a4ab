package executor_test

import (
	"context"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/host"
	"github.com/magpie-go/magpie/executor/parallel"
	"github.com/magpie-go/magpie/graph"
	"github.com/stretchr/testify/require"
)

// What the test suites of other libraries try with the workers themselves: state of each, their indices, hooks on their
// threads, and calls on all of them.

// oneTBB, test_enumerable_thread_specific and test_combinable: each worker has a list of its own. Together the lists
// have every number once. After a clear they begin anew.
func TestRivalsThreadSpecific(t *testing.T) {
	onEach(t, []int{1, 3}, func(t *testing.T, ex *executor.Executor) {
		const n = 10_000
		var made atomic.Int64
		lists := executor.NewPerWorker(ex, func() []int { made.Add(1); return nil })
		for range 3 {
			require.NoError(t, parallel.For(t.Context(), parallel.Options{Executor: ex}, 0, n, func(i int) {
				list := lists.Local()
				*list = append(*list, i)
			}))
			all := lists.Combine(func(a, b []int) []int { return append(a, b...) })
			slices.Sort(all)
			require.Len(t, all, n)
			require.Len(t, slices.Compact(all), n)
			require.LessOrEqual(t, made.Swap(0), int64(ex.Workers()))
			lists.Reset()
		}
	})
}

// Taskflow, this_worker_id, and taskflow#190: each task writes to the place of its worker, in a graph whose tasks know
// their executor by their context only. Elsewhere the index is -1, also on a worker of another executor.
func TestRivalsWorkerIndex(t *testing.T) {
	onEach(t, []int{1, 3}, func(t *testing.T, ex *executor.Executor) {
		calls := make([]int, ex.WorkersAndSpares())
		g := graph.New("indices")
		for range 1000 {
			g.Task(func(ctx context.Context) error {
				here, _ := executor.FromContext(ctx)
				calls[here.WorkerIndex()]++
				return nil
			})
		}
		require.NoError(t, ex.Run(t.Context(), g))
		sum := 0
		for _, n := range calls {
			sum += n
		}
		require.Equal(t, 1000, sum)

		require.Equal(t, -1, ex.WorkerIndex())
		other := newExecutor(t, executor.Config{Workers: 1})
		require.NoError(t, other.Run(t.Context(), one(func(context.Context) error {
			require.Equal(t, []int{0, -1}, []int{other.WorkerIndex(), ex.WorkerIndex()})
			return nil
		})))
	})
}

// taskflow#641, rayon, start_callback_called and exit_callback_called, and oneTBB, task_scheduler_observer: what is
// opened for each thread is there before its first task, and closed after its last one.
func TestRivalsThreadHandlers(t *testing.T) {
	var open [7]bool
	ex, err := executor.New(executor.Config{
		Workers: len(open),
		Threads: host.Threads{
			Start: func(worker int) { open[worker] = true },
			End:   func(worker int) { open[worker] = false },
		},
	})
	require.NoError(t, err)
	require.NotContains(t, open, false)
	require.NoError(t, parallel.For(t.Context(), parallel.Options{Executor: ex, Grain: 1}, 0, 1000, func(int) {
		if !open[ex.WorkerIndex()] {
			panic("not open")
		}
	}))
	require.NoError(t, ex.Close())
	require.NotContains(t, open, true)
}
