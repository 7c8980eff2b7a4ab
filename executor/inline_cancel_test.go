package executor_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"testing"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/parallel"
	"github.com/magpie-go/magpie/graph"
	"github.com/stretchr/testify/require"
)

// A task that ends its caller's context stops the run at once, not when another goroutine has told the run:
// the tasks that run are a function of the seed.
func TestInlineCancelIsSeeded(t *testing.T) {
	const n = 60
	for _, c := range []struct {
		name string
		run  func(ex *executor.Executor, ctx context.Context, note func(i int)) error
	}{
		{"graph", func(ex *executor.Executor, ctx context.Context, note func(i int)) error {
			g := graph.New("g")
			for i := range n {
				g.Task(func(context.Context) error { note(i); return nil })
			}
			return ex.Run(ctx, g)
		}},
		{"limited", func(ex *executor.Executor, ctx context.Context, note func(i int)) error {
			g := graph.New("g")
			semaphore := graph.NewSemaphore(1)
			for i := range n {
				g.Task(func(context.Context) error { note(i); return nil }).Hold(semaphore)
			}
			return ex.Run(ctx, g)
		}},
		{"nested", func(ex *executor.Executor, ctx context.Context, note func(i int)) error {
			g := graph.New("g")
			for i := range n {
				g.Task(func(ctx context.Context) error {
					derived, cancel := context.WithCancel(ctx)
					defer cancel()
					note(i)
					return ex.Run(derived, fan(3, func(context.Context) error { note(i + n); return nil }))
				})
			}
			return ex.Run(ctx, g)
		}},
		{"started", func(ex *executor.Executor, ctx context.Context, note func(i int)) error {
			return ex.Run(ctx, one(func(ctx context.Context) error {
				derived, cancel := context.WithCancel(ctx)
				defer cancel()
				var runs []*executor.Run
				for i := range n {
					runs = append(runs, ex.Start(derived, one(func(context.Context) error { note(i); return nil })))
				}
				var errs []error
				for _, r := range runs {
					errs = append(errs, r.Wait())
				}
				return errors.Join(errs...)
			}))
		}},
		{"start", func(ex *executor.Executor, ctx context.Context, note func(i int)) error {
			return ex.Run(ctx, one(func(ctx context.Context) error {
				derived, cancel := context.WithCancel(ctx)
				defer cancel()
				for i := range n {
					note(i)
					select {
					case <-ex.Start(derived, one(nothing)).Done(): // it could not start, or it would wait for this task
						return derived.Err()
					default:
					}
				}
				return nil
			}))
		}},
		{"futures", func(ex *executor.Executor, ctx context.Context, note func(i int)) error {
			return ex.Run(ctx, one(func(ctx context.Context) error {
				derived, cancel := context.WithCancel(ctx)
				defer cancel()
				var errs []error
				for i := range n {
					_, err := executor.Async(derived, ex, func(context.Context) (int, error) {
						note(i)
						return 0, nil
					}).Wait()
					errs = append(errs, err)
				}
				return errors.Join(errs...)
			}))
		}},
		{"children", func(ex *executor.Executor, ctx context.Context, note func(i int)) error {
			return ex.Run(ctx, executor.NewJob("f", func(s *executor.Scope) error {
				for i := range n {
					s.Go(func(context.Context) error { note(i); return nil })
				}
				return s.Wait()
			}))
		}},
		{"scope", func(ex *executor.Executor, ctx context.Context, note func(i int)) error {
			return ex.Run(ctx, executor.NewJob("f", func(s *executor.Scope) error {
				for i := 0; i < n && !s.Stopped(); i++ {
					note(i)
				}
				return nil
			}))
		}},
		{"for", func(ex *executor.Executor, ctx context.Context, note func(i int)) error {
			return parallel.For(ctx, parallel.Options{Executor: ex, Grain: 1}, 0, n, note)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			seen := map[string]int{}
			for try := range 10 {
				ex := executor.NewInline(7)
				ctx, cancel := context.WithCancelCause(t.Context())
				var noted []int
				err := c.run(ex, ctx, func(i int) {
					if noted = append(noted, i); len(noted) == 10 {
						cancel(errTest)
						for range try % 2 * 100 {
							runtime.Gosched() // for the other goroutine
						}
					}
				})
				require.ErrorIs(t, err, errTest)
				require.Len(t, noted, 10, "nothing begins after that")
				require.NoError(t, ex.Close())
				seen[fmt.Sprint(noted, err)]++
			}
			require.Len(t, seen, 1)
		})
	}
}
