package executor_test

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/magpie-go/magpie/executor"
	"github.com/stretchr/testify/require"
)

// A function of OnEnd that gives many functions to a full group neither waits for their turn nor calls any itself. A
// function of the group has the only turn until all are given, so a Go that waits would have to give up.
func TestGroupFilledByOnEnd(t *testing.T) {
	// Each has fill called by a function of OnEnd after the call of what it returns, which a function of the group calls.
	for name, fills := range map[string]func(t *testing.T, ex *executor.Executor, fill func()) func(){
		"run": func(t *testing.T, ex *executor.Executor, fill func()) func() {
			free := make(chan struct{})
			ex.Start(t.Context(), one(func(context.Context) error { <-free; return nil })).OnEnd(func(error) { fill() })
			return func() { close(free) }
		},
		"future": func(t *testing.T, ex *executor.Executor, fill func()) func() {
			free := make(chan struct{})
			executor.Async(t.Context(), ex, func(context.Context) (int, error) { <-free; return 0, nil }).
				OnEnd(func(int, error) { fill() })
			return func() { close(free) }
		},
		"promise, kept by the group": func(t *testing.T, ex *executor.Executor, fill func()) func() {
			p := executor.NewPromise[int](t.Context(), ex)
			p.Future().OnEnd(func(int, error) { fill() })
			return func() { p.Resolve(0) }
		},
		"run of another executor": func(t *testing.T, _ *executor.Executor, fill func()) func() {
			free := make(chan struct{})
			newExecutor(t, executor.Config{Workers: 1}).
				Start(t.Context(), one(func(context.Context) error { <-free; return nil })).OnEnd(func(error) { fill() })
			return func() { close(free) }
		},
	} {
		t.Run(name, func(t *testing.T) {
			ex := newExecutor(t, executor.Config{Workers: 2})
			g := executor.NewGroup(ex)
			g.SetLimit(1)
			var ran atomic.Int64
			const many = queuedTurns + 50
			filled := make(chan struct{})
			release := fills(t, ex, func() {
				for range many {
					g.Go(func() error { ran.Add(1); return nil })
				}
				close(filled)
			})
			within(t, ex, func() {
				g.Go(func() error {
					release()
					executor.Blocking(func() { <-filled })
					require.Zero(t, ran.Load(), "functions called by Go")
					require.False(t, g.GaveUp(), "Go has waited for a turn")
					return nil
				})
				require.NoError(t, g.Wait())
			})
			require.EqualValues(t, many, ran.Load())
		})
	}
}
