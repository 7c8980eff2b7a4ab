package executor_test

import (
	"context"
	"errors"
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/graph"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/magpie-go/magpie/internal/testkit/guests"
	"github.com/stretchr/testify/require"
)

func goexit(context.Context) error {
	runtime.Goexit()
	return nil
}

// panicWith panics. The tests look for its name in stacks.
func panicWith(value any) error { panic(value) }

// A panic becomes an error with the value and the stack of the function that panicked. The worker goes on.
func TestPanic(t *testing.T) {
	onEach(t, []int{1, 2}, func(t *testing.T, ex *executor.Executor) {
		threads := ex.Threads()
		for _, value := range []any{"text", 42, errTest, nil} {
			var ran atomic.Int64
			g := graph.New("panics")
			bad := g.Task(func(context.Context) error { return panicWith(value) }).Named("bad")
			bad.Precede(g.Task(func(context.Context) error {
				ran.Add(1)
				return nil
			}))
			err := ex.Run(t.Context(), g)
			require.Zero(t, ran.Load(), "a successor of a failed task ran")

			var p *executor.PanicError
			require.ErrorAs(t, err, &p)
			require.Contains(t, string(p.Stack), "executor_test.panicWith")
			var task *graph.TaskError
			require.ErrorAs(t, err, &task)
			require.Equal(t, "bad", task.Task)
			require.NotErrorIs(t, err, context.Canceled)
			switch value {
			case nil:
				var nilError *runtime.PanicNilError
				require.ErrorAs(t, err, &nilError)
			case errTest:
				require.ErrorIs(t, err, errTest)
				require.Equal(t, value, p.Value)
			default:
				require.Equal(t, value, p.Value)
				require.NoError(t, p.Unwrap())
			}
		}
		require.Equal(t, threads, ex.Threads(), "a panic costs no thread")
	})
}

// In a nested run the inner task fails with the panic, the outer one with the error that it returns.
func TestPanicInNestedRun(t *testing.T) {
	onEach(t, fewWorkers, func(t *testing.T, ex *executor.Executor) {
		after := false
		err := ex.Run(t.Context(), one(func(ctx context.Context) error {
			inner := ex.Run(ctx, one(func(context.Context) error { return panicWith("inner") }))
			var p *executor.PanicError
			if !errors.As(inner, &p) || p.Value != "inner" {
				return errors.New("the nested run did not fail with the panic")
			}
			after = true
			return panicWith("outer")
		}))
		var p *executor.PanicError
		require.ErrorAs(t, err, &p)
		require.Equal(t, "outer", p.Value)
		require.True(t, after)
	})
}

// Goexit ends the worker's thread. Another takes its place and finds what the worker had.
func TestGoexit(t *testing.T) {
	guests.None(t)
	onEach(t, fewWorkers, func(t *testing.T, ex *executor.Executor) {
		var onThread atomic.Int64
		deferred := false
		err := ex.Run(t.Context(), fan(30, func(ctx context.Context) error {
			if onThread.CompareAndSwap(0, executor.Thread()) {
				defer func() { deferred = true }()
				return goexit(ctx)
			}
			return nil
		}))
		require.ErrorIs(t, err, executor.ErrGoexit)
		require.True(t, deferred)
		threads := meetAll(t, ex)
		require.NotContains(t, threads, onThread.Load())
		eventually(func() bool { return !executor.OnWorker(onThread.Load()) })
	})
}

// Goexit unwinds the whole stack, so every task on it fails: the one that called it and those that waited below. With
// one worker these are all; with several a waiting task may be on another stack and be told by Wait.
func TestGoexitInNestedRuns(t *testing.T) {
	guests.None(t)
	onEach(t, fewWorkers, func(t *testing.T, ex *executor.Executor) {
		const depth = 5
		var came, returned atomic.Int64
		runs := make(chan *executor.Run, depth)
		var level func(int) *graph.Graph
		level = func(n int) *graph.Graph {
			return one(func(ctx context.Context) error {
				came.Add(1)
				if n == 0 {
					return goexit(ctx)
				}
				r := ex.Start(ctx, level(n-1))
				runs <- r
				err := r.Wait()
				returned.Add(1)
				return err
			})
		}
		r := ex.Start(t.Context(), level(depth))
		require.ErrorIs(t, r.Wait(), executor.ErrGoexit)
		require.EqualValues(t, depth+1, came.Load())
		if ex.Workers() == 1 {
			require.Zero(t, returned.Load(), "a task went on after Goexit had unwound it")
		}
		for range depth {
			require.ErrorIs(t, (<-runs).Wait(), executor.ErrGoexit)
		}
		meetAll(t, ex)
	})
}

// Goexit runs deferred functions first. These may do what a task may: they may run jobs, and
// wait for runs in progress, even the one whose task called Goexit.
func TestDeferredAfterGoexit(t *testing.T) {
	guests.None(t)
	onEach(t, fewWorkers, func(t *testing.T, ex *executor.Executor) {
		var ran atomic.Int64
		var inner error
		err := ex.Run(t.Context(), one(func(ctx context.Context) error {
			r := ex.Start(ctx, one(goexit))
			defer func() {
				inner = r.Wait()
				if err := ex.Run(context.WithoutCancel(ctx), fan(10, func(context.Context) error {
					ran.Add(1)
					return nil
				})); err != nil {
					t.Error(err)
				}
			}()
			_ = r.Wait()
			return goexit(ctx)
		}))
		require.ErrorIs(t, err, executor.ErrGoexit)
		require.ErrorIs(t, inner, executor.ErrGoexit)
		require.EqualValues(t, 10, ran.Load())
		meetAll(t, ex)
	})
}

// A panic in a deferred function while Goexit unwinds the task: it can be recovered, Goexit goes on all the same.
func TestPanicDuringGoexit(t *testing.T) {
	guests.None(t)
	onEach(t, fewWorkers, func(t *testing.T, ex *executor.Executor) {
		var ran atomic.Int64
		g := graph.New("both")
		bad := g.Task(func(ctx context.Context) error {
			defer panicWith("deferred")
			return goexit(ctx)
		})
		for range 10 {
			bad.Precede(g.Task(func(context.Context) error {
				ran.Add(1)
				return nil
			}))
		}
		err := ex.Run(t.Context(), g)
		var p *executor.PanicError
		if !errors.As(err, &p) {
			require.ErrorIs(t, err, executor.ErrGoexit)
		}
		require.Zero(t, ran.Load())
		meetAll(t, ex)
		err = ex.Run(t.Context(), one(func(ctx context.Context) error { return ex.Run(ctx, g) }))
		require.Error(t, err)
		meetAll(t, ex)
		require.NoError(t, ex.Close())
	})
}

// Goexit in a deferred function while a panic unwinds the task ends the panic, not the goroutine's end.
func TestGoexitDuringPanic(t *testing.T) {
	guests.None(t)
	onEach(t, fewWorkers, func(t *testing.T, ex *executor.Executor) {
		err := ex.Run(t.Context(), one(func(ctx context.Context) error {
			defer func() { _ = goexit(ctx) }()
			return panicWith("first")
		}))
		require.ErrorIs(t, err, executor.ErrGoexit)
		meetAll(t, ex)
	})
}

// Every worker loses its thread at the same time, again and again.
func TestGoexitOnEveryWorker(t *testing.T) {
	guests.None(t)
	onEach(t, fewWorkers, func(t *testing.T, ex *executor.Executor) {
		for range max(20, testkit.Scale(200)) {
			before := meetAll(t, ex)
			b := barrier{n: int64(ex.Workers())}
			err := ex.Run(t.Context(), fan(ex.Workers(), func(ctx context.Context) error {
				b.meet()
				return goexit(ctx)
			}))
			require.ErrorIs(t, err, executor.ErrGoexit)
			for thread := range meetAll(t, ex) {
				require.NotContains(t, before, thread)
			}
		}
		comesToRest(t, ex)
	})
}
