package graph_test

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/graph"
)

// TestPanicArmsJoins: a task with several predecessors that panics waits for all of them in the next run too, whether
// its worker went on with it or took it from its deque. The last of three predecessors makes three such tasks ready.
func TestPanicArmsJoins(t *testing.T) {
	const wide = 3
	for _, workers := range []int{1, 2} {
		ex := newExecutor(t, executor.Config{Workers: workers})
		var before, after [wide]int
		var early atomic.Bool
		panics := wide // the task that panics, or none
		g := graph.New("joins")
		var firsts, joins [wide]graph.Task
		for i := range wide {
			firsts[i] = g.Task(func(context.Context) error { before[i]++; return nil })
		}
		for i := range wide {
			joins[i] = g.Task(func(context.Context) error {
				for _, n := range before {
					if n != before[0] {
						early.Store(true)
					}
				}
				if after[i]++; i == panics {
					panic("a task that panics")
				}
				return nil
			})
			for _, f := range firsts {
				f.Precede(joins[i])
			}
		}
		for range 3 {
			for panics = range wide {
				require.Error(t, ex.Run(t.Context(), g))
			}
			panics = wide
			ran := after
			for i := 1; i <= 3; i++ {
				require.NoError(t, ex.Run(t.Context(), g))
				for j := range wide {
					require.Equal(t, ran[j]+i, after[j])
				}
			}
			require.False(t, early.Load())
		}
	}
}
