package executor_test

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/experiment"
	"github.com/magpie-go/magpie/executor/host"
	"github.com/magpie-go/magpie/executor/internal/fixture"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/magpie-go/magpie/internal/testkit/guests"
	"github.com/stretchr/testify/require"
)

func TestClose(t *testing.T) {
	onEach(t, []int{1, 2, 8}, func(t *testing.T, ex *executor.Executor) {
		var ran atomic.Int64
		g := count(&ran)
		require.NoError(t, ex.Run(t.Context(), g))
		require.NoError(t, ex.Close())
		require.NoError(t, ex.Close())
		require.ErrorIs(t, ex.Run(t.Context(), g), executor.ErrClosed)
		r := ex.Start(t.Context(), g)
		require.True(t, closed(r.Done()))
		require.ErrorIs(t, r.Wait(), executor.ErrClosed)
		r.Cancel(nil)
		require.ErrorIs(t, r.Wait(), executor.ErrClosed)
		require.EqualValues(t, 1, ran.Load())
		require.NotEmpty(t, ex.Stats().Workers)
	})
}

// Close in a task returns ErrInTask and does nothing: the run, and later runs, go on.
func TestCloseInTask(t *testing.T) {
	onEach(t, []int{1, 2}, func(t *testing.T, ex *executor.Executor) {
		other := newExecutor(t, executor.Config{Workers: 1})
		require.NoError(t, ex.Run(t.Context(), fan(4, func(ctx context.Context) error {
			err := ex.Run(ctx, one(func(context.Context) error { return ex.Close() }))
			if !assertInTask(t, err) || !assertInTask(t, ex.Close()) {
				return err
			}
			return other.Close() // another executor may be closed
		})))
		require.NoError(t, ex.Run(t.Context(), one(nothing)))
	})
}

func assertInTask(t *testing.T, err error) bool {
	t.Helper()
	if err == nil || !errors.Is(err, executor.ErrInTask) {
		t.Errorf("Close in a task: %v", err)
		return false
	}
	return true
}

// Close waits for the runs in progress, and lets their tasks start others. Runs from outside are refused. Every
// one of several Closes waits.
func TestCloseWaitsForRuns(t *testing.T) {
	onEach(t, []int{1, 2}, func(t *testing.T, ex *executor.Executor) {
		gate := make(chan struct{})
		var detached *executor.Run
		var ran atomic.Int64
		outer := ex.Start(t.Context(), chain(2, func(ctx context.Context) error {
			<-gate
			if err := ex.Run(ctx, count(&ran)); err != nil {
				return err
			}
			detached = ex.Start(context.WithoutCancel(ctx), chain(20, func(context.Context) error {
				ran.Add(1)
				return nil
			}))
			return nil
		}))
		var done atomic.Bool
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() {
				if err := ex.Close(); err != nil {
					t.Error(err)
				}
				if !done.Load() {
					t.Error("Close returned while a run was in progress")
				}
			})
		}
		eventually(func() bool { // one that is not refused may have ended too, or not end while the gate is closed
			r := ex.Start(t.Context(), fan(2, nothing))
			return closed(r.Done()) && errors.Is(r.Wait(), executor.ErrClosed)
		})
		require.ErrorIs(t, ex.Run(t.Context(), one(nothing)), executor.ErrClosed)
		require.False(t, closed(outer.Done()))
		done.Store(true)
		close(gate)
		wg.Wait()
		require.True(t, closed(outer.Done()))
		require.True(t, closed(detached.Done()))
		require.NoError(t, outer.Wait())
		require.NoError(t, detached.Wait())
		require.EqualValues(t, 2+2*20, ran.Load())
	})
}

// Start and Close at once: each run either runs as a whole or not at all.
func TestCloseAgainstStart(t *testing.T) {
	for range 50 {
		ex, err := executor.New(executor.Config{Workers: 2, Host: host.Options{KeepGOMAXPROCS: true}})
		require.NoError(t, err)
		within(t, ex, func() {
			var ran, accepted, refused atomic.Int64
			g := fan(5, func(context.Context) error {
				ran.Add(1)
				return nil
			})
			var wg sync.WaitGroup
			for range 3 {
				wg.Go(func() {
					for {
						switch err := ex.Run(context.Background(), g); {
						case err == nil:
							accepted.Add(1)
						case errors.Is(err, executor.ErrClosed):
							refused.Add(1)
							return
						default:
							t.Error(err)
							return
						}
					}
				})
			}
			eventually(func() bool { return accepted.Load() > 10 })
			require.NoError(t, ex.Close())
			wg.Wait()
			require.EqualValues(t, 3, refused.Load())
			require.Equal(t, 5*accepted.Load(), ran.Load())
		})
	}
}

// Closing leaves no goroutine and no thread, whatever the executor has been through, and no worker is ever on the
// process's main thread.
func TestNothingIsLeftAfterClose(t *testing.T) {
	guests.None(t)
	goroutines := runtime.NumGoroutine()
	ps := runtime.GOMAXPROCS(0)
	policies := usable()
	all := make([]int, 100)
	for i := range all {
		all[i] = i
	}
	if testkit.Quick() {
		all = testkit.Draw(t, all, 0, 30)
	}
	for _, i := range all {
		ex, err := fixture.New(t, executor.Config{
			Workers: 1 + i%5, Experiment: experiment.Options{Policy: policies[i%len(policies)]},
		})
		require.NoError(t, err)
		var threads []int64
		var took time.Duration
		within(t, ex, func() {
			for thread := range meetAll(t, ex) {
				threads = append(threads, thread)
			}
			if i%3 == 0 {
				require.ErrorIs(t, ex.Run(t.Context(), one(goexit)), executor.ErrGoexit)
				threads = append(threads, ex.Threads()...)
			}
			begin := time.Now()
			require.NoError(t, ex.Close())
			took = time.Since(begin)
		})
		for _, thread := range threads {
			require.False(t, executor.OnWorker(thread))
			checkThreadIsGone(t, thread, took)
		}
	}
	eventually(func() bool { return runtime.NumGoroutine() <= goroutines })
	require.Equal(t, ps, runtime.GOMAXPROCS(0))
}
