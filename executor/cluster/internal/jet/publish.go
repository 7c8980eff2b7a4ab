package jet

import (
	"context"
	"fmt"
	"strings"

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

// Headers of dead letters.
const (
	whyHeader    = "Magpie-Why"
	objectHeader = "Magpie-Object" // the message was too large for a letter: its content hash
)

// maxWhy is how many bytes of a reason a letter has. Arbitrary.
const maxWhy = 4 << 10

// Bury implements protocol.Store.
func (q *Queue) Bury(ctx context.Context, raw []byte, why string, id string) error {
	m := nats.NewMsg(q.dead())
	why = strings.Map(func(r rune) rune {
		if r < ' ' {
			return ' '
		}
		return r
	}, why)
	m.Header.Set(whyHeader, why[:min(len(why), maxWhy)])
	m.Data = raw
	if int64(len(raw)) > q.nc.MaxPayload()-2*maxWhy {
		hash, err := q.PutObject(ctx, raw)
		if err != nil {
			return fmt.Errorf("bury a large message: %w", err)
		}
		m.Header.Set(objectHeader, hash)
		m.Data = nil
	}
	return q.explain("bury a message", q.publish(ctx, m, ids(id)...))
}
