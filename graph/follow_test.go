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
			waits := make([]bool, n)                   // for a run inside
			for i := range waits {
				waits[i] = rng.IntN(8) == 0
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
			var calls atomic.Int64
			g := graph.New("outer")
			tasks := make([]graph.Task, n)
			for i := range n {
				tasks[i] = g.Task(func(ctx context.Context) error {
					calls.Add(1)
					if waits[i] {
						if err := ex.Run(ctx, inner); !errors.Is(err, bad) && innerFails || err != nil && !innerFails {
							return fmt.Errorf("the inner run: %w", err)
						}
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
				ran := 0
				for _, w := range waits {
					if w {
						ran += inner.Len()
					}
				}
				require.EqualValues(t, n+ran, ex.Stats().Total.Tasks-before)
				continue
			}
			var failure *graph.TaskError
			require.ErrorAs(t, err, &failure)
			require.Equal(t, fmt.Sprint("#", fails), failure.Task)
			require.Len(t, errorsOf(err), 1)
			require.EqualValues(t, fails+1, calls.Load())
		}
	})
}

// errorsOf returns the errors that err joins.
func errorsOf(err error) []error {
	if many, ok := err.(interface{ Unwrap() []error }); ok {
		return many.Unwrap()
	}
	return []error{err}
}
