package jet

import (
	"context"

	"github.com/magpie-go/magpie/executor/cluster/internal/protocol"
	"github.com/magpie-go/magpie/executor/cluster/internal/wire"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Publish implements protocol.Store.
func (q *Queue) Publish(ctx context.Context, posts ...protocol.Post) error {
	return Each(len(posts), func(i int) error {
		p := posts[i]
		m := &nats.Msg{Subject: q.work(p.Class), Header: headers(p.Trace), Data: wire.Encode(p.Message)}
		err := q.publish(ctx, m, ids(p.ID)...)
		return q.explain("publish to class "+p.Class, err)
	})
}

// headers returns the headers of a message with that trace.
func headers(t wire.Trace) nats.Header {
	if t.Parent == "" {
		return nil
	}
	h := nats.Header{wire.TraceParent: {t.Parent}}
	if t.State != "" {
		h[wire.TraceState] = []string{t.State}
	}
	return h
}

// ids is the option that gives a message an ID, unless that is empty.
func ids(id string) []jetstream.PublishOpt {
	if id == "" {
		return nil
	}
	return []jetstream.PublishOpt{jetstream.WithMsgID(id)}
}
