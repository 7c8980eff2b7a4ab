package goroutines

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/magpie-go/magpie/graph"
	"github.com/magpie-go/magpie/internal/plan"
)

// TestRun runs a graph that fans out and in three times, with a task that fails in the second run. Each task runs once
// a run.
func TestRun(t *testing.T) {
	const width = 100
	var middle atomic.Int32
	var before, after, failures int // plain: the edges order them
	broken := errors.New("broken")
	g := graph.New("fan")
	first := g.Task(func(context.Context) error {
		before++
		return nil
	})
	last := g.Task(func(context.Context) error {
		after += int(middle.Load())
		if after == 3*width { // of the first run and the second
			failures++
			return broken
		}
		return nil
	})
	for range width {
		task := g.Task(func(context.Context) error {
			middle.Add(1)
			return nil
		})
		first.Precede(task)
		task.Precede(last)
	}
	p, err := plan.Of(g)
	require.NoError(t, err)
	runs := New(p)
	require.NoError(t, runs.Run(t.Context()))
	require.ErrorIs(t, runs.Run(t.Context()), broken)
	require.NoError(t, runs.Run(t.Context()))
	require.Equal(t, 3, before)
	require.Equal(t, 6*width, after)
	require.Equal(t, 1, failures)
	require.EqualValues(t, 3*(width+2), runs.Ran())
}
