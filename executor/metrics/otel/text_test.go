package otel_test

import (
	"context"
	"errors"
	"testing"
	"unicode/utf8"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/metrics/otel"
	"github.com/magpie-go/magpie/graph"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
)

// TestTextThatIsNoUTF8: names and errors that are no UTF-8 have U+FFFD in place of the bytes that are none, in spans,
// histograms and metrics.
func TestTextThatIsNoUTF8(t *testing.T) {
	provider, reader := newProvider()
	latencies, err := otel.Latencies(otel.LatencyOptions{Provider: provider, Tasks: true})
	require.NoError(t, err)
	ex, recorder := traced(t, otel.SpanOptions{}, executor.Config{
		Workers: 1, Name: "e\xff", Observers: []*executor.Observer{latencies},
	})
	register(t, ex, otel.Options{Provider: provider})
	g := graph.New("build\xff")
	bad := g.Task(func(context.Context) error { return errors.New("no room\xff") }).Named("caf\xe9.c")
	bad.Precede(g.Task(func(context.Context) error { return nil }).Named("link\xff"))
	require.Error(t, ex.Run(t.Context(), g))
	require.NoError(t, ex.Close())

	var seen []string
	see := func(text string) {
		require.True(t, utf8.ValidString(text), "%q", text)
		seen = append(seen, text)
	}
	seeAll := func(all []attribute.KeyValue) {
		for _, a := range all {
			see(a.Value.Emit())
		}
	}
	require.Equal(t, []string{" > build\ufffd", "build\ufffd > caf\ufffd.c"}, tree(recorder))
	for _, s := range recorder.Ended() {
		require.Equal(t, codes.Error, s.Status().Code)
		see(s.Status().Description)
		seeAll(s.Attributes())
		for _, e := range s.Events() {
			seeAll(e.Attributes)
		}
	}
	require.Subset(t, seen, []string{"e\ufffd", "build\ufffd", "link\ufffd", "no room\ufffd"})

	var rm metricdata.ResourceMetrics
	require.NoError(t, reader.Collect(t.Context(), &rm))
	for _, m := range rm.ScopeMetrics[0].Metrics {
		switch data := m.Data.(type) {
		case metricdata.Histogram[float64]:
			for _, p := range data.DataPoints {
				seeAll(p.Attributes.ToSlice())
			}
		case metricdata.Sum[int64]:
			for _, p := range data.DataPoints {
				seeAll(p.Attributes.ToSlice())
			}
		case metricdata.Gauge[int64]:
			for _, p := range data.DataPoints {
				seeAll(p.Attributes.ToSlice())
			}
		}
	}
}
