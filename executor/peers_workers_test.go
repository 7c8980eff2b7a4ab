package executor_test

import (
	"context"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/parallel"
	"github.com/magpie-go/magpie/graph"
	"github.com/stretchr/testify/require"
)

// What the test suites of other libraries try with the workers themselves: state of each, their indices, hooks on their
// threads, and calls on all of them.

// oneTBB, test_enumerable_thread_specific and test_combinable: each worker has a list of its own. Together the lists
// have every number once. After a clear they begin anew.
func TestPeersThreadSpecific(t *testing.T) {
	onEach(t, []int{1, 3}, func(t *testing.T, ex *executor.Executor) {
		const n = 10_000
		var made atomic.Int64
		lists := executor.NewPerWorker(ex, func() []int { made.Add(1); return nil })
		for range 3 {
			require.NoError(t, parallel.For(t.Context(), parallel.On{Executor: ex}, 0, n, func(i int) {
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
func TestPeersWorkerIndex(t *testing.T) {
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
func TestPeersThreadHandlers(t *testing.T) {
	var open [7]bool
	ex, err := executor.New(executor.Config{
		Workers:     len(open),
		ThreadStart: func(worker int) { open[worker] = true },
		ThreadEnd:   func(worker int) { open[worker] = false },
	})
	require.NoError(t, err)
	require.NotContains(t, open, false)
	require.NoError(t, parallel.For(t.Context(), parallel.On{Executor: ex, Grain: 1}, 0, 1000, func(int) {
		if !open[ex.WorkerIndex()] {
			panic("not open")
		}
	}))
	require.NoError(t, ex.Close())
	require.NotContains(t, open, true)
}

// rayon, broadcast_pool, broadcast_self, broadcast_panic_one and broadcast_panic_many: each of seven workers is called
// once, with its own index, from outside and from a task. A panic of one or of several reaches the caller.
// broadcast_mutual is not possible: its inner call waits for a worker that waits, in Blocking, for the outer call.
func TestPeersBroadcast(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 7})
	from := map[string]func(call func(ctx context.Context) error) error{
		"outside": func(call func(context.Context) error) error { return call(t.Context()) },
		"a task":  func(call func(context.Context) error) error { return ex.Run(t.Context(), one(call)) },
	}
	panics := map[string]func(worker int) bool{
		"none": func(int) bool { return false },
		"one":  func(worker int) bool { return worker == 3 },
		"many": func(worker int) bool { return worker%2 == 0 },
	}
	for place, run := range from {
		for some, panics := range panics {
			t.Run(some+" from "+place, func(t *testing.T) {
				var calls [7]atomic.Int64
				err := run(func(ctx context.Context) error {
					return executor.Broadcast(ctx, ex, func(_ context.Context, worker int) error {
						calls[worker].Add(1)
						if panics(worker) {
							panic(worker)
						}
						return nil
					})
				})
				for i := range calls {
					if some == "none" {
						require.EqualValues(t, 1, calls[i].Load())
					} else {
						require.LessOrEqual(t, calls[i].Load(), int64(1)) // the first panic cancels what has not begun
					}
				}
				if some == "none" {
					require.NoError(t, err)
					return
				}
				var p *executor.PanicError
				require.ErrorAs(t, err, &p)
				require.True(t, panics(p.Value.(int)))
			})
		}
	}
}
