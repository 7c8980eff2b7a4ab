package otel_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"testing"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/metrics/otel"
	"github.com/magpie-go/magpie/graph"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
)

// TestLatencies: the histograms count runs, tasks and Asyncs by outcome.
func TestLatencies(t *testing.T) {
	provider, reader := newProvider()
	observer, err := otel.Latencies(otel.LatencyOptions{Provider: provider, Tasks: true, Asyncs: true})
	require.NoError(t, err)
	ex, err := executor.New(executor.Config{Workers: 2, Name: "one", Observers: []*executor.Observer{observer}})
	require.NoError(t, err)
	for i := range 3 {
		g := graph.New("g")
		bad := g.Task(func(context.Context) error {
			if i == 1 {
				panic("broken")
			}
			return nil
		}).Named("bad")
		bad.Precede(g.Task(func(context.Context) error { return nil }).Named("after"))
		require.Equal(t, i == 1, ex.Run(t.Context(), g) != nil)
	}
	_, err = executor.Async(t.Context(), ex, func(context.Context) (int, error) { return 0, errors.New("broken") }).Wait()
	require.Error(t, err)
	require.NoError(t, ex.Close())

	var rm metricdata.ResourceMetrics
	require.NoError(t, reader.Collect(t.Context(), &rm))
	counts := map[string]uint64{}
	for _, m := range rm.ScopeMetrics[0].Metrics {
		require.Equal(t, "s", m.Unit)
		for _, p := range m.Data.(metricdata.Histogram[float64]).DataPoints {
			labels := m.Name
			for _, key := range []attribute.Key{"executor", "job", "task", "outcome"} {
				if v, ok := p.Attributes.Value(key); ok {
					labels += " " + v.AsString()
				}
			}
			counts[labels] = p.Count
		}
	}
	require.Equal(t, map[string]uint64{
		"magpie.run.duration one ok": 2, "magpie.run.duration one panicked": 1, "magpie.run.wait one": 3,
		"magpie.task.duration one g bad ok": 2, "magpie.task.duration one g bad panicked": 1,
		"magpie.task.duration one g after ok": 2, "magpie.task.duration one g after skipped": 1,
		"magpie.task.duration one async  failed": 1, "magpie.async.duration one failed": 1,
	}, counts)
}

// The runs of an executor, by outcome.
func ExampleLatencies() {
	provider, reader := newProvider() // a service has a periodic reader with an exporter
	latencies, err := otel.Latencies(otel.LatencyOptions{Provider: provider})
	if err != nil {
		log.Fatal(err)
	}
	ex, err := executor.New(executor.Config{Name: "imports", Observers: []*executor.Observer{latencies}})
	if err != nil {
		log.Fatal(err)
	}
	job := executor.NewJob("import", func(*executor.Scope) error { return errors.New("no space") })
	_ = ex.Run(context.Background(), job)
	_ = ex.Close()
	var rm metricdata.ResourceMetrics
	if err := reader.Collect(context.Background(), &rm); err != nil {
		log.Fatal(err)
	}
	for _, m := range rm.ScopeMetrics[0].Metrics {
		fmt.Println(m.Name, m.Data.(metricdata.Histogram[float64]).DataPoints[0].Count)
	}
	// Output:
	// magpie.run.duration 1
	// magpie.run.wait 1
}
