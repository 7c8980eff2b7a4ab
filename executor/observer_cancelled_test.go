package executor_test

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/magpie-go/magpie/executor"
	"github.com/stretchr/testify/require"
)

// TestRunEndCancelled: an observer is told that a run was cancelled, and not that one has failed with the error of
// another run or future that was.
func TestRunEndCancelled(t *testing.T) {
	errCause := errors.New("the cause")
	waits := func(s *executor.Scope) error { <-s.Context().Done(); return nil }
	inner := func(s *executor.Scope, ex *executor.Executor) error {
		ctx, cancel := context.WithCancel(s.Context())
		return ex.Run(ctx, executor.NewJob("inner", func(s *executor.Scope) error { cancel(); return waits(s) }))
	}
	for name, tt := range map[string]struct {
		run       func(ex *executor.Executor) error
		cancelled []bool // the run, and those after it
	}{
		"with its context": {func(ex *executor.Executor) error {
			ctx, cancel := context.WithCancel(t.Context())
			return ex.Run(ctx, executor.NewJob("told", func(s *executor.Scope) error { cancel(); return waits(s) }))
		}, []bool{true}},
		"by Cancel, and failed": {func(ex *executor.Executor) error {
			begun := make(chan struct{})
			r := ex.Start(t.Context(), executor.NewJob("told", func(s *executor.Scope) error {
				close(begun)
				_ = waits(s)
				return errors.New("besides")
			}))
			<-begun
			r.Cancel(errCause)
			return r.Wait()
		}, []bool{false}},
		"failed with a nested run's": {func(ex *executor.Executor) error {
			return ex.Run(t.Context(), executor.NewJob("told", func(s *executor.Scope) error { return inner(s, ex) }))
		}, []bool{false}},
		"failed with a future's": {func(ex *executor.Executor) error {
			return ex.Run(t.Context(), executor.NewJob("told", func(s *executor.Scope) error {
				f := executor.Async(s.Context(), ex, func(ctx context.Context) (int, error) {
					<-ctx.Done()
					return 0, nil
				})
				f.Cancel(errCause)
				_, err := f.Wait()
				return err
			}))
		}, []bool{false}},
		"panicked beside a nested run": {func(ex *executor.Executor) error {
			return ex.Run(t.Context(), executor.NewJob("told", func(s *executor.Scope) error {
				begun := make(chan struct{})
				s.Go(func(ctx context.Context) error {
					return ex.Run(ctx, executor.NewJob("inner", func(s *executor.Scope) error {
						close(begun)
						return waits(s)
					}))
				})
				s.Go(func(context.Context) error { <-begun; panic("here") })
				return s.Wait()
			}))
		}, []bool{false}},
		"a group, used again": {func(ex *executor.Executor) error {
			g := executor.NewGroup(ex)
			g.Go(func() error { g.Cancel(errCause); return nil })
			require.ErrorIs(t, g.Wait(), errCause)
			g.Go(func() error { return errors.New("later") })
			return g.Wait()
		}, []bool{true, true}},
		"a group that has failed, used again": {func(ex *executor.Executor) error {
			g := executor.NewGroup(ex)
			g.Go(func() error { return errCause })
			require.ErrorIs(t, g.Wait(), errCause)
			g.Go(func() error { return nil })
			return g.Wait()
		}, []bool{false, false}},
		"a group of which a function fails with a nested run's": {func(ex *executor.Executor) error {
			g := executor.NewGroup(ex)
			g.Go(func() error {
				ctx, cancel := context.WithCancel(t.Context())
				return ex.Run(ctx, executor.NewJob("inner", func(s *executor.Scope) error {
					cancel()
					return waits(s)
				}))
			})
			return g.Wait()
		}, []bool{false}},
	} {
		t.Run(name, func(t *testing.T) {
			var mu sync.Mutex
			var told []bool
			ex := newExecutor(t, executor.Config{Workers: 2, Observers: []*executor.Observer{{
				RunEnd: func(e *executor.Event) {
					mu.Lock()
					defer mu.Unlock()
					if e.Run.Name() != "inner" {
						told = append(told, e.Cancelled)
					} else if !e.Cancelled {
						t.Error("the inner run was cancelled")
					}
				},
			}}})
			require.Error(t, tt.run(ex))
			require.NoError(t, ex.Close())
			require.Equal(t, tt.cancelled, told)
		})
	}
}
