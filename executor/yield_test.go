package executor_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/experiment"
	"github.com/magpie-go/magpie/executor/host"
	"github.com/magpie-go/magpie/internal/osthread"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/require"
)

// yieldUntil yields until condition holds, and returns Yield's first error.
func yieldUntil(ctx context.Context, condition func() bool) error {
	for !condition() {
		if err := executor.Yield(ctx); err != nil {
			return err
		}
	}
	return nil
}

func never() bool { return false }

// A loop ends when its context has ended, also outside of tasks.
func TestYieldReturnsTheContextsError(t *testing.T) {
	ended, cancel := context.WithCancel(t.Context())
	require.NoError(t, executor.Yield(ended))
	cancel()
	require.ErrorIs(t, executor.Yield(ended), context.Canceled)
	late, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	require.ErrorIs(t, yieldUntil(late, never), context.DeadlineExceeded)
	require.PanicsWithValue(t, "executor: Yield needs a context, got nil",
		func() { _ = executor.Yield(nil) }) //nolint:staticcheck // the mistake is the test

	onEach(t, []int{1, 2}, func(t *testing.T, ex *executor.Executor) {
		err := ex.Run(t.Context(), one(func(ctx context.Context) error {
			if err := executor.Yield(ctx); err != nil {
				return err
			}
			late, cancel := context.WithTimeout(ctx, time.Millisecond)
			defer cancel()
			return yieldUntil(late, never)
		}))
		require.ErrorIs(t, err, context.DeadlineExceeded)
	})
}

// A loop of a future ends when Shutdown cancels the work, even if it has another context.
func TestYieldReturnsTheShutdown(t *testing.T) {
	onEach(t, []int{1, 2}, func(t *testing.T, ex *executor.Executor) {
		started := make(chan struct{})
		f := executor.Async(t.Context(), ex, func(context.Context) (int, error) {
			close(started)
			return 0, yieldUntil(context.Background(), never)
		})
		<-started
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		require.ErrorIs(t, ex.Shutdown(ended), executor.ErrShutdown)
		_, err := f.Wait()
		require.Equal(t, context.Canceled, err)
	})
}

// A loop ends when its run does, even if it has another context: after a cancellation, and after another task's
// failure.
func TestYieldReturnsTheRunsStop(t *testing.T) {
	for _, other := range []bool{false, true} {
		loops := func(ctx context.Context) error {
			if other {
				ctx = context.Background()
			}
			return yieldUntil(ctx, never)
		}
		onEach(t, []int{2}, func(t *testing.T, ex *executor.Executor) {
			begun := make(chan struct{})
			r := ex.Start(t.Context(), one(func(ctx context.Context) error {
				close(begun)
				return loops(ctx)
			}))
			<-begun
			r.Cancel(nil)
			require.ErrorIs(t, r.Wait(), context.Canceled)

			var looping atomic.Bool
			failing := errors.New("failing")
			err := ex.Run(t.Context(), executor.NewJob("f", func(s *executor.Scope) error {
				s.Go(func(ctx context.Context) error {
					eventually(looping.Load)
					return failing
				})
				looping.Store(true)
				return loops(s.Context())
			}))
			require.ErrorIs(t, err, failing)
			require.NotErrorIs(t, err, context.Canceled, "the loop's error only says why the run was stopped")
		})
	}
}

// A future that yields ends with its context.
func TestYieldInAsync(t *testing.T) {
	onEach(t, []int{1, 2}, func(t *testing.T, ex *executor.Executor) {
		ctx, cancel := context.WithCancel(t.Context())
		begun := make(chan struct{})
		f := executor.Async(ctx, ex, func(ctx context.Context) (int, error) {
			close(begun)
			return 1, yieldUntil(ctx, never)
		})
		<-begun
		cancel()
		_, err := f.Wait()
		require.ErrorIs(t, err, context.Canceled)
	})
}

// Thieves get all that a task has forked, though the task makes no other Fork or Join. At first there is enough to
// steal, and most of the forks stay private.
func TestYieldShowsForks(t *testing.T) {
	const n = 500
	count := func(_ *executor.Scope, begun *atomic.Int32) int { begun.Add(1); return 1 }
	for _, forks := range experiment.Forks() {
		ex := newExecutor(t, executor.Config{Workers: 2, Experiment: experiment.Options{Forks: forks}})
		within(t, ex, func() {
			for range 10 {
				sum, err := executor.Call(t.Context(), ex, func(s *executor.Scope, sum int) int {
					var begun atomic.Int32
					var made []executor.Forked[*atomic.Int32, int]
					for range n {
						made = append(made, executor.Fork(s, count, &begun))
					}
					if yieldUntil(s.Context(), func() bool { return begun.Load() == n }) != nil {
						return 0
					}
					for _, f := range slices.Backward(made) {
						sum += f.Join(s)
					}
					return sum
				}, 0)
				require.NoError(t, err)
				require.Equal(t, n, sum)
			}
		})
	}
}

// Yield in Blocking, in a nested run, with spares in service, and when a task of an inline executor is on the stack.
func TestYieldAnywhere(t *testing.T) {
	for _, keep := range []bool{false, true} {
		ex := newExecutor(t, executor.Config{Workers: 2, Host: host.Options{KeepGOMAXPROCS: keep}})
		within(t, ex, func() {
			require.NoError(t, ex.Run(t.Context(), fan(20, func(ctx context.Context) error {
				var err error
				executor.Blocking(func() { err = executor.Yield(ctx) })
				if err != nil {
					return err
				}
				nested := fan(5, executor.Yield)
				if err := ex.Run(ctx, nested); err != nil {
					return err
				}
				if err := executor.NewInline(1).Run(ctx, nested); err != nil {
					return err
				}
				end := time.Now().Add(3 * time.Millisecond) // some offers
				return yieldUntil(ctx, func() bool { return time.Now().After(end) })
			})))
		})
	}
}

// With KeepGOMAXPROCS a goroutine gets the P of a task that yields, long before the runtime would take it away.
func TestYieldGivesThePUp(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	ex := newExecutor(t, executor.Config{Workers: 1, Host: host.Options{KeepGOMAXPROCS: true}})
	within(t, ex, func() {
		require.NoError(t, ex.Run(t.Context(), one(func(ctx context.Context) error {
			for range 20 {
				var ran atomic.Bool
				go ran.Store(true)
				if err := yieldUntil(ctx, ran.Load); err != nil {
					return err
				}
			}
			return nil
		})))
	})
}

// Under testing/synctest a loop that yields lets other goroutines of the bubble go on.
func TestYieldInABubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ex := executor.NewInline(1)
		var ran atomic.Bool
		go ran.Store(true)
		require.NoError(t, ex.Run(t.Context(), one(func(ctx context.Context) error {
			return yieldUntil(ctx, ran.Load)
		})))
		ctx, cancel := context.WithCancel(t.Context())
		err := ex.Run(ctx, one(func(ctx context.Context) error {
			cancel()
			return yieldUntil(context.Background(), never)
		}))
		require.ErrorIs(t, err, context.Canceled)
	})
}

func TestYieldDoesNotAllocate(t *testing.T) {
	onEach(t, []int{1, 2}, func(t *testing.T, ex *executor.Executor) {
		require.NoError(t, ex.Run(t.Context(), one(func(ctx context.Context) error {
			// Other goroutines of the process may allocate meanwhile.
			testkit.Fits(t, func() (wrong string) {
				if n := testing.AllocsPerRun(1000, func() { _ = executor.Yield(ctx) }); n != 0 {
					wrong = fmt.Sprintf("%v allocations", n)
				}
				return wrong
			})
			return nil
		})))
	})
}

// BenchmarkYield also measures the processor time: while the core is offered, others may use it.
func BenchmarkYield(b *testing.B) {
	loop := func(b *testing.B) func(context.Context) error {
		return func(ctx context.Context) error {
			thread := osthread.ID()
			before, _ := osthread.CPU(thread)
			for b.Loop() {
				_ = executor.Yield(ctx)
			}
			after, err := osthread.CPU(thread)
			if err == nil {
				b.ReportMetric(float64(after-before)/float64(b.N), "cpu-ns/op")
			}
			return nil
		}
	}
	b.Run("goroutine", func(b *testing.B) {
		for b.Loop() {
			_ = executor.Yield(b.Context())
		}
	})
	for _, keep := range []bool{false, true} {
		b.Run(fmt.Sprintf("keep=%v", keep), func(b *testing.B) {
			ex := newExecutor(b, executor.Config{Workers: 2, Host: host.Options{KeepGOMAXPROCS: keep}})
			require.NoError(b, ex.Run(b.Context(), one(loop(b))))
		})
	}
}
