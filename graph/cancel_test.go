package graph_test

import (
	"context"
	"io"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/graph"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/require"
)

func TestCancelBefore(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 2})
	for name, make := range map[string]func() (context.Context, error){
		"cancelled": func() (context.Context, error) {
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			return ctx, context.Canceled
		},
		"cancelled with a cause": func() (context.Context, error) {
			ctx, cancel := context.WithCancelCause(t.Context())
			cancel(errOutside)
			return ctx, context.Canceled
		},
		"past its deadline": func() (context.Context, error) {
			ctx, cancel := context.WithDeadlineCause(t.Context(), time.Unix(0, 0), errOutside)
			cancel()
			return ctx, context.DeadlineExceeded
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := graph.New("late")
			ran := false
			g.Task(func(context.Context) error { ran = true; return nil })
			ctx, want := make()
			before := ex.Stats().Total.Tasks
			err := run(t, ex, ctx, g)
			require.ErrorIs(t, err, want)
			require.ErrorIs(t, err, context.Cause(ctx))
			require.Contains(t, err.Error(), `run of "late": `+want.Error())
			require.False(t, ran)
			require.Equal(t, before, ex.Stats().Total.Tasks)
		})
	}
}

// TestCancelDuring cancels the caller's context in the middle of a run. Whatever the tasks return, the run's error
// matches the context's error and its cause, unless every task had run and returned nil before the run noticed.
func TestCancelDuring(t *testing.T) {
	for _, c := range []struct {
		name   string
		answer func(ctx context.Context) error
		fails  bool
	}{
		{"tasks wait for it", func(ctx context.Context) error { <-ctx.Done(); return nil }, false},
		{"tasks return the error", func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }, true},
		{"tasks return the cause", func(ctx context.Context) error { <-ctx.Done(); return context.Cause(ctx) }, true},
		{"tasks poll the error", pollErr, true},
		{"tasks poll a derived context", func(ctx context.Context) error {
			ctx, cancel := context.WithCancel(ctx)
			defer cancel()
			return pollErr(ctx)
		}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			const sources = 4
			ex := newExecutor(t, executor.Config{Workers: sources})
			within(t, ex, func() {
				for i := range testkit.Scale(300) {
					ctx, cancel := context.WithCancelCause(context.Background())
					g := graph.New("g")
					begun := make(chan struct{}, sources)
					var after atomic.Int32
					for range sources {
						source := g.Task(func(ctx context.Context) error { begun <- struct{}{}; return c.answer(ctx) })
						source.Precede(g.Task(func(context.Context) error { after.Add(1); return nil }))
					}
					r := ex.Start(ctx, g)
					for range 1 + i%sources {
						<-begun
					}
					cancel(errOutside)
					err := r.Wait()
					if err == nil && !c.fails {
						require.EqualValues(t, sources, after.Load(), "run %d left tasks out and returned no error", i)
						continue
					}
					require.ErrorIs(t, err, context.Canceled, "run %d", i)
					require.ErrorIs(t, err, errOutside, "run %d", i)
					require.Empty(t, failedTasks(err), "run %d reports what only repeats its end", i)
					if c.fails {
						require.Zero(t, after.Load())
					}
				}
			})
		})
	}
}

// pollErr polls Err instead of waiting for Done, so it sees the context's error as early as possible.
func pollErr(ctx context.Context) error {
	for ctx.Err() == nil {
		runtime.Gosched()
	}
	return ctx.Err()
}

func TestDeadlineDuring(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 2})
	for name, answer := range map[string]func(ctx context.Context) error{
		"nothing":   func(ctx context.Context) error { <-ctx.Done(); return nil },
		"the error": func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() },
		"polled":    pollErr,
	} {
		t.Run(name, func(t *testing.T) {
			g := graph.New("g")
			var deadline time.Time
			var seen, cause error
			g.Task(func(ctx context.Context) error {
				deadline, _ = ctx.Deadline()
				err := answer(ctx)
				seen, cause = ctx.Err(), context.Cause(ctx)
				return err
			})
			var when time.Time
			var err error
			// On a busy machine the deadline may pass before the task has begun: it is skipped, and later is better.
			for wait := 2 * time.Millisecond; deadline.IsZero(); wait *= 4 {
				when = time.Now().Add(wait)
				ctx, cancel := context.WithDeadlineCause(t.Context(), when, errOutside)
				defer cancel()
				err = run(t, ex, ctx, g)
			}
			if err == nil {
				// The task saw the deadline pass and returned nil before the run noticed: every task ran.
				require.Equal(t, "nothing", name)
			} else {
				require.ErrorIs(t, err, context.DeadlineExceeded)
				require.ErrorIs(t, err, errOutside)
			}
			require.Equal(t, when, deadline)
			require.Equal(t, context.DeadlineExceeded, seen)
			require.Equal(t, errOutside, cause)
		})
	}
}

func TestRunCancel(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 2})
	for _, c := range []struct{ cause, want error }{{nil, context.Canceled}, {errOutside, errOutside}} {
		g := graph.New("g")
		begun := make(chan struct{})
		var seen error
		ran := false
		a := g.Task(func(ctx context.Context) error {
			close(begun)
			<-ctx.Done()
			seen = context.Cause(ctx)
			return ctx.Err()
		})
		a.Precede(g.Task(func(context.Context) error { ran = true; return nil }))
		r := ex.Start(t.Context(), g)
		<-begun
		r.Cancel(c.cause)
		r.Cancel(io.EOF) // the first counts
		within(t, ex, func() {
			err := r.Wait()
			require.ErrorIs(t, err, context.Canceled)
			require.ErrorIs(t, err, c.want)
			require.NotErrorIs(t, err, io.EOF)
			require.Empty(t, failedTasks(err))
		})
		require.Equal(t, c.want, seen)
		require.False(t, ran)
	}
}

// TestCancelAndFailure: if a run was cancelled and then a task failed by itself, the result has both.
func TestCancelAndFailure(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 2})
	g := graph.New("g")
	begun := make(chan struct{})
	g.Task(func(ctx context.Context) error { close(begun); <-ctx.Done(); return errTask }).Named("a")
	r := ex.Start(t.Context(), g)
	<-begun
	r.Cancel(errOutside)
	within(t, ex, func() {
		err := r.Wait()
		require.EqualError(t, err,
			"run of \"g\": context canceled: the caller's cause\ngraph \"g\": task a: the task's own error")
		require.ErrorIs(t, err, context.Canceled)
		require.ErrorIs(t, err, errOutside)
		require.ErrorIs(t, err, errTask)
		require.Equal(t, []string{"a"}, failedTasks(err))
	})
}
