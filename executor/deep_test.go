package executor_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/graph"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/require"
)

// TestDeepOnNoStack: the depth of work that starts work and does not wait for it is bounded by memory only. Of children
// in children one worker runs a third of this.
func TestDeepOnNoStack(t *testing.T) {
	levels := max(10_000, testkit.Scale(100_000)) // with the race detector a level also takes several times the memory
	depth := 0                                    // one level is in progress at a time
	for name, deep := range map[string]func(ex *executor.Executor) error{
		"functions of a group": func(ex *executor.Executor) error {
			g := executor.NewGroup(ex)
			var deeper func() error
			deeper = func() error {
				if depth++; depth < levels {
					g.Go(deeper)
				}
				return nil
			}
			g.Go(deeper)
			return g.Wait()
		},
		"futures": func(ex *executor.Executor) error {
			end := executor.NewPromise[int](t.Context(), ex)
			var deeper func(context.Context) (int, error)
			deeper = func(context.Context) (int, error) {
				if depth++; depth < levels {
					executor.Async(t.Context(), ex, deeper)
				} else {
					end.Resolve(0)
				}
				return 0, nil
			}
			executor.Async(t.Context(), ex, deeper)
			_, err := end.Future().Wait()
			return err
		},
		"subflows": func(ex *executor.Executor) error {
			var deeper func(context.Context, *graph.Graph) error
			deeper = func(_ context.Context, sub *graph.Graph) error {
				if depth++; depth < levels {
					sub.Subflow(deeper)
				}
				return nil
			}
			g := graph.New("g")
			g.Subflow(deeper)
			return ex.Run(t.Context(), g)
		},
	} {
		for _, workers := range []int{1, 2} {
			t.Run(fmt.Sprintf("%s/W=%d", name, workers), func(t *testing.T) {
				ex := newExecutor(t, executor.Config{Workers: workers})
				depth = 0
				within(t, ex, func() { require.NoError(t, deep(ex)) })
				require.Equal(t, levels, depth)
			})
		}
	}
}
