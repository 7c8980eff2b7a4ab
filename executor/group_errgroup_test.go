package executor_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/magpie-go/magpie/executor"
	"github.com/stretchr/testify/require"
)

// If the caller's context ends before a function fails, the error of Wait says so, and has the function's failure
// unless that only says the same again.
func TestGroupWhoseContextEnds(t *testing.T) {
	const ended = `run of "group": context canceled`
	for name, c := range map[string]struct {
		fails func(ctx error) error
		text  string
	}{
		"nil":     {func(error) error { return nil }, ended},
		"same":    {func(err error) error { return err }, ended},
		"wrapped": {func(err error) error { return fmt.Errorf("fetch url7: %w", err) }, ended},
		"own":     {func(error) error { return errTest }, ended + "\n" + errTest.Error()},
		"both": {
			func(err error) error { return errors.Join(errTest, err) },
			ended + "\n" + errTest.Error() + "\ncontext canceled",
		},
	} {
		onEach(t, []int{1, 2}, func(t *testing.T, ex *executor.Executor) {
			caller, cancel := context.WithCancel(t.Context())
			g, ctx := executor.GroupWithContext(caller, ex)
			g.Go(func() error { cancel(); <-ctx.Done(); return c.fails(ctx.Err()) })
			err := g.Wait()
			require.EqualError(t, err, c.text, name)
			require.ErrorIs(t, err, context.Canceled, name)
			require.NotEqual(t, context.Canceled, err, name)
			require.Equal(t, c.text != ended, errors.Is(err, errTest), name)
		})
	}
	onEach(t, []int{1, 2}, func(t *testing.T, ex *executor.Executor) {
		caller, cancel := context.WithCancel(t.Context())
		g, ctx := executor.GroupWithContext(caller, ex)
		g.Go(func() error { return errTest })
		<-ctx.Done()
		cancel()
		require.Equal(t, errTest, g.Wait(), "the function has failed before")
	})
}

// What is listed as different from an errgroup, and has no other test.
func TestGroupIsNoErrgroup(t *testing.T) {
	for name, try := range map[string]func(t *testing.T, ex *executor.Executor){
		"on a worker": func(t *testing.T, ex *executor.Executor) {
			g := executor.NewGroup(ex)
			g.Go(func() error {
				if ex.WorkerIndex() < 0 {
					t.Error("not on a worker")
				}
				return nil
			})
			require.NoError(t, g.Wait())
			require.Negative(t, ex.WorkerIndex())
		},
		"context ended before": func(t *testing.T, ex *executor.Executor) {
			ended, cancel := context.WithCancel(t.Context())
			cancel()
			g, _ := executor.GroupWithContext(ended, ex)
			g.Go(func() error { t.Error("called"); return nil })
			require.EqualError(t, g.Wait(), `run of "group": context canceled`)
		},
		"context ended between": func(t *testing.T, ex *executor.Executor) {
			ends, cancel := context.WithCancel(t.Context())
			g, _ := executor.GroupWithContext(ends, ex)
			cancel()
			called := false
			g.Go(func() error { called = true; return nil })
			require.ErrorIs(t, g.Wait(), context.Canceled)
			require.True(t, called)
			g.Go(func() error { t.Error("called"); return nil })
			require.ErrorIs(t, g.Wait(), context.Canceled)
		},
		"SetLimit before Wait": func(t *testing.T, ex *executor.Executor) {
			for _, limit := range []int{-1, 1} {
				g := executor.NewGroup(ex)
				g.SetLimit(limit)
				done := make(chan struct{})
				g.Go(func() error { close(done); return nil })
				<-done
				eventually(func() bool { return ex.Stats().Gauges.Active == 0 })
				require.Panics(t, func() { g.SetLimit(3) })
				require.NoError(t, g.Wait())
				g.SetLimit(3)
			}
		},
		"limit 0": func(t *testing.T, ex *executor.Executor) {
			g := executor.NewGroup(ex)
			g.SetLimit(0)
			require.Panics(t, func() { g.Go(func() error { return nil }) })
		},
		"Go at the limit, from a task": func(t *testing.T, ex *executor.Executor) {
			g := executor.NewGroup(ex)
			g.SetLimit(1)
			gate := make(chan struct{})
			var ran atomic.Int64
			require.NoError(t, ex.Run(t.Context(), one(func(context.Context) error {
				for range 100 {
					g.Go(func() error { executor.Blocking(func() { <-gate }); ran.Add(1); return nil })
				}
				close(gate)
				return nil
			})))
			require.NoError(t, g.Wait())
			require.EqualValues(t, 100, ran.Load())
		},
		"a function that waits for the task that calls Go": func(t *testing.T, ex *executor.Executor) {
			g := executor.NewGroup(ex)
			g.SetLimit(1)
			c := make(chan int)
			require.NoError(t, ex.Run(t.Context(), one(func(context.Context) error {
				g.Go(func() error { return nil })
				g.Go(func() error { executor.Blocking(func() { <-c }); return nil })
				executor.Blocking(func() { c <- 1 })
				return nil
			})))
			require.NoError(t, g.Wait())
		},
		"a function that waits for the goroutine that calls Go": func(t *testing.T, ex *executor.Executor) {
			g := executor.NewGroup(ex)
			g.SetLimit(2)
			c := make(chan int)
			g.Go(func() error { executor.Blocking(func() { <-c }); return nil })
			for range 10 {
				g.Go(func() error { return nil })
			}
			c <- 1
			require.NoError(t, g.Wait())
		},
		"a run": func(t *testing.T, _ *executor.Executor) {
			ex := bounded(t, 2, 1)
			g, _ := executor.GroupWithContext(t.Context(), ex)
			_, err := ex.TryStart(t.Context(), one(nothing))
			require.ErrorIs(t, err, executor.ErrBusy)
			require.NoError(t, g.Wait())
			require.NoError(t, ex.Run(t.Context(), one(nothing)))
		},
	} {
		t.Run(name, func(t *testing.T) { onEach(t, []int{1, 2}, try) })
	}
}
