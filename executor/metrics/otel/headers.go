package otel

import (
	"context"

	"go.opentelemetry.io/otel/propagation"
)

// Headers returns the W3C trace context of the span in ctx, as the values of the headers traceparent and tracestate.
// Both are "" if there is no span. It is a ClientConfig.Trace of package cluster.
func Headers(ctx context.Context) (parent, state string) {
	headers := propagation.MapCarrier{}
	propagation.TraceContext{}.Inject(ctx, headers)
	return headers["traceparent"], headers["tracestate"]
}

// Continue returns a context with the span of another process, of which these are the headers: it is the parent of the
// spans that are started in the context. It is a WorkerConfig.Trace of package cluster. With [Spans] in the executor of
// each worker, the runs of all partitions and their tasks are spans below that which has submitted the graph.
func Continue(ctx context.Context, parent, state string) context.Context {
	return propagation.TraceContext{}.Extract(ctx,
		propagation.MapCarrier{"traceparent": parent, "tracestate": state})
}
