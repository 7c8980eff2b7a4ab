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
		err := q.publish(ctx, &nats.Msg{Subject: q.work(p.Class), Data: wire.Encode(p.Message)}, ids(p.ID)...)
		return q.explain("publish to class "+p.Class, err)
	})
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
