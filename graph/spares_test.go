package graph_test

import (
	"context"
	"sync"
	"testing"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/graph"
	"github.com/stretchr/testify/require"
)

// TestSparesCostWhenNeeded: a graph that has run keeps what belongs to a worker for the workers of the Config, and for
// spares that have run a task of it.
func TestSparesCostWhenNeeded(t *testing.T) {
	const workers = 2
	ex := newExecutor(t, executor.Config{Workers: workers, Spares: 300, Callers: executor.IdleCallers})
	g := graph.New("g")
	a := g.Task(nothing)
	for range 100 {
		a.Precede(g.Task(nothing))
	}
	require.NoError(t, ex.Run(t.Context(), g))
	require.Equal(t, workers, graph.Locals(g))

	g = graph.New("meets")
	var met sync.WaitGroup
	met.Add(workers + 1)
	for range workers + 1 {
		g.Task(func(context.Context) error { executor.Blocking(func() { met.Done(); met.Wait() }); return nil })
	}
	require.NoError(t, ex.Run(t.Context(), g))
	require.Greater(t, graph.Locals(g), workers, "a spare has run a task")
}
