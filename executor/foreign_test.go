package executor_test

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/experiment"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/require"
)

// A Join does not run futures, or tasks of runs, that the function has started: they may want a lock that it holds.
func TestJoinRunsNothingForeign(t *testing.T) {
	ex := newExecutor(t, executor.Config{Workers: 2, Experiment: experiment.Options{Forks: "pushed"}})
	within(t, ex, func() {
		for range testkit.Scale(50) {
			busy, free := make(chan struct{}), make(chan struct{})
			other := ex.Start(t.Context(), one(func(context.Context) error { close(busy); <-free; return nil }))
			<-busy
			var mu sync.Mutex
			var f *executor.Future[int]
			var r *executor.Run
			err := ex.Run(t.Context(), executor.NewJob("f", func(s *executor.Scope) error {
				fork := executor.Fork(s, func(*executor.Scope, int) int { return 1 }, 0)
				f = executor.Async(t.Context(), ex, func(context.Context) (int, error) {
					mu.Lock()
					defer mu.Unlock()
					return 1, nil
				})
				r = ex.Start(t.Context(), one(func(context.Context) error { mu.Lock(); defer mu.Unlock(); return nil }))
				mu.Lock()
				fork.Join(s)
				mu.Unlock()
				return nil
			}))
			require.NoError(t, err)
			close(free)
			_, err = f.Wait()
			require.NoError(t, errors.Join(err, r.Wait(), other.Wait()))
		}
	})
}

// Wait does not run other runs that the function has started: they may want a lock that it holds.
func TestWaitRunsNothingForeign(t *testing.T) {
	onEach(t, []int{1, 2}, func(t *testing.T, ex *executor.Executor) {
		within(t, ex, func() {
			var mu sync.Mutex
			var r *executor.Run
			ran := false
			require.NoError(t, runFunc(t, ex, func(s *executor.Scope) error {
				s.Go(func(context.Context) error { ran = true; return nil })
				r = ex.Start(t.Context(), one(func(context.Context) error { mu.Lock(); defer mu.Unlock(); return nil }))
				mu.Lock()
				defer mu.Unlock()
				return s.Wait()
			}))
			require.True(t, ran)
			require.NoError(t, r.Wait())
		})
	})
}
