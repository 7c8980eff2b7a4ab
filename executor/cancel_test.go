package executor_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/graph"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/require"
)

type contextKey struct{}

// A context that is over before the start runs nothing.
func TestCancelledBeforeStart(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 1})
	within(t, ex, func() {
		var ran atomic.Int64
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(errTest)
		r := ex.Start(ctx, count(&ran))
		require.True(t, closed(r.Done()))
		require.ErrorIs(t, r.Wait(), context.Canceled)
		require.ErrorIs(t, r.Wait(), errTest)
		require.EqualError(t, r.Wait(), `run of "one": context canceled: the test's own`)

		ctx, cancel2 := context.WithDeadline(t.Context(), time.Unix(0, 0))
		defer cancel2()
		err := ex.Run(ctx, count(&ran))
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.EqualError(t, err, `run of "one": context deadline exceeded`)
		require.Zero(t, ran.Load())
	})
}

// However a run is stopped from outside, the task in progress sees its context cancelled. The run's error matches the
// context's error and the cause, although the task returns the former only. No other task starts.
func TestStopARun(t *testing.T) {
	for name, c := range map[string]struct {
		stop  func(r *executor.Run, cancel context.CancelCauseFunc)
		cause error
	}{
		"Cancel":      {func(r *executor.Run, _ context.CancelCauseFunc) { r.Cancel(errTest) }, errTest},
		"Cancel(nil)": {func(r *executor.Run, _ context.CancelCauseFunc) { r.Cancel(nil) }, context.Canceled},
		"context":     {func(_ *executor.Run, cancel context.CancelCauseFunc) { cancel(errTest) }, errTest},
		"first of several": {func(r *executor.Run, _ context.CancelCauseFunc) {
			r.Cancel(errTest)
			r.Cancel(context.Canceled)
		}, errTest},
	} {
		t.Run(name, func(t *testing.T) {
			onEach(t, []int{1, 2}, func(t *testing.T, ex *executor.Executor) {
				ctx, cancel := context.WithCancelCause(t.Context())
				defer cancel(nil)
				started := make(chan context.Context)
				var ran atomic.Int64
				r := ex.Start(ctx, chain(10, func(ctx context.Context) error {
					ran.Add(1)
					started <- ctx
					<-ctx.Done()
					return ctx.Err()
				}))
				task := <-started
				require.NoError(t, task.Err())
				c.stop(r, cancel)
				err := r.Wait()
				require.ErrorIs(t, err, context.Canceled)
				require.ErrorIs(t, err, c.cause)
				require.Equal(t, c.cause, context.Cause(task))
				require.EqualValues(t, 1, ran.Load())
			})
		})
	}
}

func TestDeadline(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 1})
	within(t, ex, func() {
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Millisecond, errTest)
		defer cancel()
		err := ex.Run(ctx, chain(2, func(task context.Context) error {
			want, _ := ctx.Deadline()
			if got, ok := task.Deadline(); !ok || got != want {
				t.Errorf("the task's deadline is %v, %v, want %v", got, ok, want)
			}
			<-task.Done()
			return nil
		}))
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.ErrorIs(t, err, errTest)
		require.NotErrorIs(t, err, context.Canceled)
	})
}

// Tasks that do not look at Done cost no context of their own, and must see the same.
func TestErrWithoutDone(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 1})
	within(t, ex, func() {
		started := make(chan struct{})
		r := ex.Start(t.Context(), one(func(ctx context.Context) error {
			close(started)
			eventually(func() bool { return ctx.Err() != nil })
			return nil
		}))
		<-started
		r.Cancel(errTest)
		require.ErrorIs(t, r.Wait(), errTest)
	})
}

// The context of a run is the run's own: it knows the caller's values, and is over with the run.
func TestContextOfARun(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 1})
	within(t, ex, func() {
		var early, late context.Context
		run := func(keep *context.Context, look bool) {
			ctx := context.WithValue(t.Context(), contextKey{}, "value")
			require.NoError(t, ex.Run(ctx, one(func(ctx context.Context) error {
				if v := ctx.Value(contextKey{}); look && v != "value" {
					t.Errorf("the task's value is %v", v)
				}
				if ctx.Err() != nil {
					t.Errorf("the context of a run in progress says %v", ctx.Err())
				}
				*keep = ctx
				return nil
			})))
		}
		run(&early, true)
		run(&late, false) // looked at after the end only
		for _, ctx := range []context.Context{early, late} {
			require.ErrorIs(t, ctx.Err(), context.Canceled)
			<-ctx.Done()
			require.Equal(t, "value", ctx.Value(contextKey{}))
			require.ErrorIs(t, context.Cause(ctx), context.Canceled)
		}
		require.NotSame(t, early, late)
		require.NoError(t, t.Context().Err())
	})
}

// A run that was cancelled and has failures of its own reports both.
func TestCancelledAndFailed(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 1})
	within(t, ex, func() {
		started := make(chan struct{})
		r := ex.Start(t.Context(), one(func(ctx context.Context) error {
			close(started)
			<-ctx.Done()
			return errTest
		}))
		<-started
		r.Cancel(nil)
		require.ErrorIs(t, r.Wait(), context.Canceled)
		require.ErrorIs(t, r.Wait(), errTest)
	})
}

// A keeper is a job that keeps the JobRun of its Begin.
type keeper struct {
	executor.Job
	run *executor.JobRun
}

func (k *keeper) Begin(r *executor.JobRun) (*executor.Item, error) {
	k.run = r
	return k.Job.Begin(r)
}

// A Cancel or Abort after the end does nothing, even if the body of the run serves another run
// by then.
func TestCancelAfterTheEnd(t *testing.T) {
	onEach(t, []int{1, 2}, func(t *testing.T, ex *executor.Executor) {
		gate := make(chan struct{}, 1)
		g := chain(2, func(context.Context) error {
			<-gate
			return nil
		})
		ctx, cancel := context.WithCancel(t.Context())
		gate <- struct{}{}
		k := &keeper{Job: g}
		old := ex.Start(ctx, k)
		gate <- struct{}{}
		require.NoError(t, old.Wait())

		next := ex.Start(t.Context(), g)
		gate <- struct{}{}
		old.Cancel(errTest)
		k.run.Abort(errTest)
		cancel()
		gate <- struct{}{}
		require.NoError(t, next.Wait())
		require.NoError(t, old.Wait())
	})
}

// The same with the Cancel anywhere around the end: whether it hits or not, the next run is not harmed.
func TestCancelAroundTheEnd(t *testing.T) {
	onEach(t, []int{1, 2}, func(t *testing.T, ex *executor.Executor) {
		var hit, missed int
		g := chain(8, nothing)
		long := chain(2000, nothing) // while only one of the two has come about
		var wg sync.WaitGroup
		defer wg.Wait()
		for i := 0; i < testkit.Scale(4000) || hit == 0 || missed == 0; i++ {
			ctx, cancel := context.WithCancel(context.Background())
			job := g
			if hit == 0 && i >= testkit.Scale(4000) {
				job = long
			}
			r := ex.Start(ctx, job)
			wg.Go(func() {
				for range i % 64 * 8 {
					_ = ctx.Err()
				}
				if i%2 == 0 {
					r.Cancel(errTest)
				} else {
					cancel()
				}
			})
			if err := r.Wait(); err != nil {
				require.ErrorIs(t, err, context.Canceled)
				hit++
			} else {
				missed++
			}
			require.NoError(t, ex.Run(context.Background(), g))
			cancel()
		}
	})
}

// TestCancelIsToldOnce: a task that returns the cause of its run's cancellation before the run itself knows it has not
// failed. The standard context behind the task's ends first.
func TestCancelIsToldOnce(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 1})
	within(t, ex, func() {
		for range testkit.Scale(5_000) {
			begun := make(chan struct{})
			r := ex.Start(t.Context(), one(func(ctx context.Context) error {
				done := ctx.Done()
				close(begun)
				for {
					select {
					case <-done:
						return context.Cause(ctx)
					default:
					}
				}
			}))
			<-begun
			r.Cancel(errTest)
			var failed *graph.TaskError
			require.False(t, errors.As(r.Wait(), &failed), "%v", failed)
		}
	})
}
