package cluster

import (
	"context"

	"github.com/magpie-go/magpie/executor/cluster/internal/wire"
)

// WithTrace returns a context with a W3C trace context: the values of the headers traceparent and tracestate of a
// request. A graph that is submitted with the context has it in each of its messages, and functions find it with
// [TraceFrom], on any machine. So the spans that they make are of one trace. Malformed values are left out when the
// graph is submitted, and [ClientConfig.Report] is told.
func WithTrace(ctx context.Context, parent, state string) context.Context {
	return context.WithValue(ctx, traceKey{}, wire.Trace{Parent: parent, State: state})
}

// TraceFrom returns the trace context of ctx: in a function that a worker runs, that of the submission of the graph,
// and otherwise that of [WithTrace]. Both are "" if there is none.
func TraceFrom(ctx context.Context) (parent, state string) {
	t, _ := ctx.Value(traceKey{}).(wire.Trace)
	return t.Parent, t.State
}

type traceKey struct{}

// trace returns the trace of what is submitted with ctx.
func (c *Client) trace(ctx context.Context) wire.Trace {
	t, err := wire.ParseTrace(c.c.Trace(ctx))
	if err != nil {
		c.report(err)
	}
	return t
}

// traced returns the context of a delivery with a trace.
func (w *Worker) traced(ctx context.Context, t wire.Trace) context.Context {
	if t == (wire.Trace{}) {
		return ctx
	}
	ctx = WithTrace(ctx, t.Parent, t.State)
	if w.c.Trace != nil {
		ctx = w.c.Trace(ctx, t.Parent, t.State)
	}
	return ctx
}
