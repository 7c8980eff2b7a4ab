package otel_test

import (
	"context"
	"testing"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/metrics/otel"
	"github.com/magpie-go/magpie/graph"
	"github.com/stretchr/testify/require"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"
)

// TestHeaders: a run that another process has asked for, which is known by two headers, is below the span of that one.
func TestHeaders(t *testing.T) {
	parent, state := otel.Headers(t.Context())
	require.Empty(t, parent+state)
	require.False(t, trace.SpanContextFromContext(otel.Continue(t.Context(), "hello", "")).IsValid())

	recorder := tracetest.NewSpanRecorder()
	provider := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(recorder))
	theirs, err := trace.ParseTraceState("vendor=1")
	require.NoError(t, err)
	ctx := trace.ContextWithSpanContext(t.Context(), trace.NewSpanContext(trace.SpanContextConfig{
		TraceID: trace.TraceID{7}, SpanID: trace.SpanID{8}, TraceFlags: trace.FlagsSampled, TraceState: theirs,
	}))
	ctx, submit := provider.Tracer("test").Start(ctx, "submit")
	parent, state = otel.Headers(ctx)
	require.Equal(t, "vendor=1", state)
	submit.End()

	ex := newExecutor(t, executor.Config{Workers: 2, Observers: []*executor.Observer{
		otel.Spans(otel.SpanOptions{Provider: provider})}})
	g := graph.New("partition")
	g.Task(func(context.Context) error { return nil }).Named("call")
	require.NoError(t, ex.Run(otel.Continue(t.Context(), parent, state), g))
	require.NoError(t, ex.Close())
	require.Equal(t, []string{" > submit", "partition > call", "submit > partition"}, tree(recorder))
	for _, s := range recorder.Ended() {
		require.Equal(t, trace.TraceID{7}, s.SpanContext().TraceID())
		require.Equal(t, "vendor=1", s.SpanContext().TraceState().String())
	}
}
