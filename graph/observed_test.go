package graph_test

import (
	"context"
	"errors"
	"testing"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/graph"
	"github.com/stretchr/testify/require"
)

// BenchmarkObserved is the cost of a task of a chain, without an observer and with one that does nothing.
func BenchmarkObserved(b *testing.B) {
	empty := func(*executor.Event) {}
	for _, c := range []struct {
		name      string
		observers []*executor.Observer
	}{
		{"none", nil},
		{"no functions", []*executor.Observer{{}}},
		{"empty", []*executor.Observer{{TaskBegin: empty, TaskEnd: empty}}},
		{"two", []*executor.Observer{{TaskBegin: empty, TaskEnd: empty}, {TaskBegin: empty, TaskEnd: empty}}},
	} {
		b.Run(c.name, func(b *testing.B) {
			ex, err := executor.New(executor.Config{Workers: 1, Spares: -1, Observers: c.observers})
			require.NoError(b, err)
			defer func() { require.NoError(b, ex.Close()) }()
			const n = 10000
			g := graph.New("chain")
			last := g.Task(func(context.Context) error { return nil })
			for range n - 1 {
				next := g.Task(func(context.Context) error { return nil })
				last.Precede(next)
				last = next
			}
			require.NoError(b, ex.Run(b.Context(), g))
			for b.Loop() {
				require.NoError(b, ex.Run(b.Context(), g))
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/task")
		})
	}
}

// A graph runs with observers, then without, and grows. Tasks that are skipped then are no failures.
func TestSkippedAfterObservedRun(t *testing.T) {
	observer := &executor.Observer{TaskEnd: func(*executor.Event) {}}
	observed := newExecutor(t, executor.Config{Workers: 1, Observers: []*executor.Observer{observer}})
	plain := newExecutor(t, executor.Config{Workers: 1})
	var result error
	g := graph.New("g")
	first := g.Task(func(context.Context) error { return result }).Named("first")
	first.Precede(g.Task(nothing))
	require.NoError(t, observed.Run(t.Context(), g))
	require.NoError(t, plain.Run(t.Context(), g))
	for range 3 {
		first.Precede(g.Task(nothing))
	}
	result = errors.New("fails")
	require.EqualError(t, plain.Run(t.Context(), g), `graph "g": task first: fails`)
}
