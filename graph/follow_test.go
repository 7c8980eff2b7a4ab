package graph_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/graph"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/magpie-go/magpie/internal/testkit/guests"
	"github.com/stretchr/testify/require"
)

// Tasks that follow each other are run in one loop, and each is still a task of its own: a failure has the name of the
// task that failed, also after a wait on the worker's stack, no later task is called, and each counts once.
func TestTasksThatFollow(t *testing.T) {
	guests.None(t)
	everyExecutor(t, []int{1, 2}, func(t *testing.T, ex *executor.Executor) {
		rng := rand.New(rand.NewPCG(testkit.Seed(t), 0))
		for range testkit.Scale(300) {
			const n = 100
			fails, how := rng.IntN(n+n/2), rng.IntN(4) // some runs have no failure
			waits := make([]int, n)                    // for a run inside, a future or a fork; 0: not
			for i := range waits {
				waits[i] = max(0, rng.IntN(16)-12)
			}
			inner := graph.New("inner")
			last := inner.Task(nothing)
			for range rng.IntN(10) {
				next := inner.Task(nothing)
				last.Precede(next)
				last = next
			}
			bad := errors.New("bad")
			innerFails := rng.IntN(2) == 0
			if innerFails {
				last.Precede(inner.Task(func(context.Context) error { return bad }))
			}
			ends := func() error {
				if innerFails {
					panic(bad)
				}
				return nil
			}
			wait := func(ctx context.Context, how int) (err error) {
				switch how {
				case 1:
					err = ex.Run(ctx, inner)
				case 2:
					_, err = executor.Async(ctx, ex, func(context.Context) (int, error) { return 0, ends() }).Wait()
				case 3:
					_, err = executor.Call(ctx, ex, func(s *executor.Scope, _ int) int {
						f := executor.Fork(s, func(*executor.Scope, int) int { _ = ends(); return 1 }, 0)
						return f.Join(s)
					}, 0)
				}
				if how > 0 && innerFails && err == nil || !innerFails && err != nil {
					return fmt.Errorf("wait %d: %w", how, err)
				}
				return nil
			}
			var calls atomic.Int64
			g := graph.New("outer")
			tasks := make([]graph.Task, n)
			for i := range n {
				tasks[i] = g.Task(func(ctx context.Context) error {
					calls.Add(1)
					if err := wait(ctx, waits[i]); err != nil {
						return err
					}
					if i != fails {
						return nil
					}
					switch how {
					case 0:
						panic(bad)
					case 1:
						runtime.Goexit()
					}
					return bad
				})
				if i > 0 {
					tasks[i].Succeed(tasks[i-1])
				}
				if i > 4 {
					tasks[i].Succeed(tasks[i-rng.IntN(4)-1]) // perhaps the same again: two edges
				}
			}
			before := ex.Stats().Total.Tasks
			err := run(t, ex, t.Context(), g)
			if fails >= n {
				require.NoError(t, err)
				require.EqualValues(t, n, calls.Load())
				ran, forks := uint64(n), uint64(0)
				for _, how := range waits {
					switch how {
					case 1:
						ran += uint64(inner.Len())
					case 2:
						ran++
					case 3:
						ran++
						forks++ // counts if a thief runs it
					}
				}
				counted := func() uint64 { return ex.Stats().Total.Tasks - before }
				// A worker that has run a future counts it after the future's end.
				testkit.Until(t, "all tasks are counted", func() bool { return counted() >= ran })
				require.LessOrEqual(t, counted(), ran+forks)
				continue
			}
			failed, rest := parts(err)
			require.Len(t, failed, 1)
			require.Empty(t, rest)
			require.Equal(t, fmt.Sprint("#", fails), failed[0].Task)
			require.EqualValues(t, fails+1, calls.Load())
		}
	})
}
