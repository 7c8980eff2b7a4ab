package executor_test

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/require"
)

// Shutdown cancels groups, and skips all their functions that have not begun. Tasks that drain may use groups.
func TestGroupShutdown(t *testing.T) {
	onEach(t, []int{1, 2}, func(t *testing.T, ex *executor.Executor) {
		g, ctx := executor.GroupWithContext(t.Context(), ex)
		begun := make(chan struct{})
		g.Go(func() error { close(begun); <-ctx.Done(); return nil })
		for range ex.Workers() - 1 {
			g.Go(func() error { <-ctx.Done(); return nil })
		}
		<-begun
		inside := executor.NewGroup(ex)
		inside.Go(func() error { return nil })
		stop, end := deadline(t)
		end()
		isShutdown(t, ex.Shutdown(stop))
		isShutdown(t, g.Wait())
	})
	onEach(t, []int{1, 2}, func(t *testing.T, ex *executor.Executor) {
		gate := make(chan struct{})
		r := ex.Start(t.Context(), one(func(context.Context) error {
			<-gate
			g := executor.NewGroup(ex)
			for range 10 {
				g.Go(func() error { return nil })
			}
			return g.Wait()
		}))
		var all sync.WaitGroup
		all.Go(func() { _ = ex.Close() })
		eventually(func() bool {
			r := ex.Start(t.Context(), one(nothing))
			return closed(r.Done()) && errors.Is(r.Wait(), executor.ErrClosed)
		})
		close(gate)
		all.Wait()
		require.NoError(t, r.Wait())
	})
}

// A task after one that has failed, or was not called, before another Wait is not called.
func TestGroupAfterFailureOfOld(t *testing.T) {
	onEach(t, []int{1, 2}, func(t *testing.T, ex *executor.Executor) {
		g := executor.NewGroup(ex)
		failed := g.GoAfter(func(context.Context) error { return errTest })
		skipped := g.GoAfter(nothing, failed)
		require.Equal(t, errTest, g.Wait())
		for _, before := range []*executor.GroupTask{failed, skipped} {
			g.GoAfter(func(context.Context) error { t.Error("called"); return nil }, before)
			require.Equal(t, errTest, g.Wait())
		}
	})
}

// TryGo does not wait for room for the group, nor for a goroutine that does. The group is then as before.
func TestGroupTryGoWithoutRoom(t *testing.T) {
	ex := bounded(t, 2, 1)
	within(t, ex, func() {
		gate := make(chan struct{})
		r := ex.Start(t.Context(), gated(gate))
		g := executor.NewGroup(ex)
		var ran atomic.Int64
		run := func() error { ran.Add(1); return nil }
		require.False(t, g.TryGo(run))
		require.NoError(t, g.Wait())
		var other sync.WaitGroup
		other.Go(func() { g.Go(run) })
		eventually(func() bool { return ex.Stats().Gauges.Entering == 1 })
		require.False(t, g.TryGo(run))
		close(gate)
		require.NoError(t, r.Wait())
		other.Wait()
		require.True(t, g.TryGo(run))
		require.NoError(t, g.Wait())
		require.EqualValues(t, 2, ran.Load())
	})
}

// A task of a run or future may use groups while the executor is being closed, as before: the context lives until Wait,
// which returns the first failure. Groups that the task leaves do not keep the executor open.
func TestGroupDuringClose(t *testing.T) {
	for _, future := range []bool{false, true} {
		for _, leaves := range []bool{false, true} {
			ex := newExecutor(t, executor.Config{Workers: 2})
			within(t, ex, func() {
				begun, gate := make(chan struct{}), make(chan struct{})
				task := func(ctx context.Context) error {
					early, live := executor.GroupWithContext(ctx, ex)
					close(begun)
					<-gate
					g, ctx := executor.GroupWithContext(ctx, ex)
					g.Go(func() error { return nil })
					executor.NewGroup(ex).Go(func() error { return nil }) // nobody waits for it
					eventually(func() bool { return ex.RunsInProgress() >= 3 })
					if live.Err() != nil || ctx.Err() != nil {
						t.Error("the context of a group has ended")
					}
					early.Go(func() error { return errTest })
					<-live.Done()
					early.Go(func() error { return errors.New("another") })
					if leaves {
						return nil
					}
					if err := early.Wait(); !errors.Is(err, errTest) {
						t.Error(err)
					}
					return g.Wait()
				}
				var wait func() error
				if future {
					f := executor.Async(t.Context(), ex, func(ctx context.Context) (int, error) { return 0, task(ctx) })
					wait = func() error { _, err := f.Wait(); return err }
				} else {
					wait = ex.Start(t.Context(), one(task)).Wait
				}
				<-begun
				ended := make(chan error)
				go func() { ended <- ex.Shutdown(context.Background()) }()
				eventually(func() bool { return ex.Stats().Gauges.Closed })
				close(gate)
				require.NoError(t, <-ended)
				require.NoError(t, wait())
			})
		}
	}
}

// The first failure is the error of Wait also if Close has ended the group, and a later function is refused.
func TestGroupRefusedAfterFailure(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 2})
	g := executor.NewGroup(ex)
	g.Go(func() error { return errTest })
	require.NoError(t, ex.Close())
	g.Go(func() error { t.Error("called"); return nil })
	g.Go(func() error { t.Error("called"); return nil })
	require.Equal(t, errTest, g.Wait())
	require.Equal(t, errTest, g.Wait())
}

// Two callers give the first functions of a group at once. There is room for the group, so TryGo refuses neither.
func TestGroupTryGoTogether(t *testing.T) {
	ex := bounded(t, 1, 8)
	within(t, ex, func() {
		var refused atomic.Int64
		for range testkit.Scale(10_000) {
			g := executor.NewGroup(ex)
			var ready atomic.Int64
			var both sync.WaitGroup
			for range 2 {
				both.Go(func() {
					for ready.Add(1); ready.Load() < 2; {
						runtime.Gosched()
					}
					if !g.TryGo(func() error { return nil }) {
						refused.Add(1)
					}
				})
			}
			both.Wait()
			require.NoError(t, g.Wait())
		}
		require.Zero(t, refused.Load())
		require.Zero(t, ex.Stats().RunsRefused)
	})
}
