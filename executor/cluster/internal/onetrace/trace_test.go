// Package onetrace tests that a graph on many machines is one trace of OpenTelemetry. It is a module of its own: package
// cluster does not need OpenTelemetry, and executor/metrics/otel does not need NATS.
package onetrace

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/cluster"
	"github.com/magpie-go/magpie/executor/cluster/embedded"
	"github.com/magpie-go/magpie/executor/cluster/internal/served"
	"github.com/magpie-go/magpie/executor/metrics/otel"
)

// TestOneTrace: the runs of all partitions, on two workers, are spans below that which has submitted the graph, and the
// spans of calls and those that functions make are below these.
func TestOneTrace(t *testing.T) {
	recorder := tracetest.NewSpanRecorder()
	provider := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(recorder))
	tracer := provider.Tracer("test")
	s := served.Start(t, embedded.Config{})
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()

	both := make(chan bool) // a call on each worker
	halves := cluster.NewRegistry()
	half := cluster.Register(halves, "half", func(ctx context.Context, n int) (int, error) {
		_, span := tracer.Start(ctx, "inside")
		defer span.End()
		select {
		case both <- true:
		case <-both:
		case <-ctx.Done():
		}
		return n / 2, context.Cause(ctx)
	})
	var stops []func()
	for range 2 {
		ex, err := executor.New(executor.Config{Workers: 2, Observers: []*executor.Observer{
			otel.Spans(otel.SpanOptions{Provider: provider})}})
		require.NoError(t, err)
		w, err := cluster.NewWorker(ctx, s.Conn(), ex, halves, cluster.WorkerConfig{Trace: otel.Continue, Slots: 1})
		require.NoError(t, err)
		working, stop := context.WithCancel(ctx)
		ended := make(chan error, 1)
		go func() { ended <- w.Run(working) }()
		stops = append(stops, func() {
			stop()
			require.NoError(t, <-ended)
			require.NoError(t, ex.Close())
		})
	}
	c, err := cluster.NewClient(ctx, s.Conn(), cluster.ClientConfig{
		Trace: otel.Headers, Patient: true, Target: time.Second})
	require.NoError(t, err)
	defer c.Close()
	g := cluster.NewGraph("halves")
	for n := range 2 {
		half.Call(g, half.Call(g, cluster.Value(n)).Cost(time.Minute)).Cost(time.Minute)
	}
	request, span := tracer.Start(ctx, "request")
	_, err = c.Run(request, g)
	require.NoError(t, err)
	span.End()
	for _, stop := range stops {
		stop()
	}

	names := map[trace.SpanID]string{}
	for _, s := range recorder.Ended() {
		names[s.SpanContext().SpanID()] = s.Name()
	}
	below := map[string]int{}
	for _, s := range recorder.Ended() {
		require.Equal(t, span.SpanContext().TraceID(), s.SpanContext().TraceID(), s.Name())
		below[names[s.Parent().SpanID()]+" > "+s.Name()]++
	}
	require.Equal(t, map[string]int{
		" > request": 1, "request > halves": 4, // a run of a partition each
		"halves > half#0": 1, "halves > half#1": 1, "halves > half#2": 1, "halves > half#3": 1,
		"half#0 > inside": 1, "half#1 > inside": 1, "half#2 > inside": 1, "half#3 > inside": 1,
		"halves > input half#0": 1, "halves > input half#2": 1,
	}, below)
}
