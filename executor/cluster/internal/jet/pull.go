package jet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/magpie-go/magpie/executor/cluster/internal/wire"
	"github.com/nats-io/nats.go"
)

// A pull is a request for messages. Its fields are those of the server.
type pull struct {
	Batch     int           `json:"batch"`
	NoWait    bool          `json:"no_wait,omitempty"`        // only those that wait
	Expires   time.Duration `json:"expires,omitempty"`        // how long the server waits for messages
	Heartbeat time.Duration `json:"idle_heartbeat,omitempty"` // how often it says meanwhile that it has the request
}

const (
	// heartbeat is that of a request that waits. A server that fails is noticed after two of them.
	heartbeat = 5 * time.Second
	// drainTime is how long a pull waits for what the server has sent before it knew that the pull was over.
	drainTime = 5 * time.Second
)

// Now calls f with the messages that wait, at most n.
func (c *Class) Now(n int, f func(*Delivery)) error {
	return c.pull(context.Background(), pull{Batch: n, NoWait: true}, tryTime, f)
}

// Next calls f with the next message, if one comes within the time wait, which is at least two heartbeats. It returns
// early, and without a message perhaps, if the connection is there again after it was lost.
func (c *Class) Next(ctx context.Context, wait time.Duration, f func(*Delivery)) error {
	ctx, cancel := c.q.reconnects.until(ctx)
	defer cancel()
	return c.pull(ctx, pull{Batch: 1, Expires: wait, Heartbeat: heartbeat}, 2*heartbeat, f)
}

// pull sends a request, and calls f with the messages that come, until all have come, or the server has no more, or
// ctx ends, or the server is silent for so long. f gets a message that is on its way then too: if it were dropped,
// another worker would get it after its lease only.
func (c *Class) pull(ctx context.Context, p pull, silence time.Duration, f func(*Delivery)) error {
	nc := c.q.nc
	request, err := json.Marshal(p)
	if err != nil {
		return err
	}
	inbox := nc.NewInbox()
	sub, err := nc.SubscribeSync(inbox)
	if err != nil {
		return c.q.explain("fetch", err)
	}
	subject := "$JS.API.CONSUMER.MSG.NEXT." + c.q.workStream() + "." + c.name
	if err := nc.PublishRequest(subject, inbox, request); err != nil {
		_ = sub.Unsubscribe() // of a connection that is closed
		return c.q.explain("fetch", err)
	}
	left := p.Batch
	over, err := c.answers(ctx, sub, &left, silence, f)
	if over || !nc.IsConnected() {
		_ = sub.Unsubscribe() // fails if the connection is closed, and then it is gone too
		return c.q.explain("fetch", err)
	}
	if drained := sub.Drain(); drained == nil {
		late, cancel := context.WithTimeout(context.Background(), drainTime)
		defer cancel()
		_, _ = c.answers(late, sub, &left, drainTime, f) // until the subscription ends
	}
	return c.q.explain("fetch", err)
}

// answers takes the answers to a request for so many messages, and reports whether these were all.
func (c *Class) answers(ctx context.Context, sub *nats.Subscription, left *int, silence time.Duration,
	f func(*Delivery)) (all bool, err error) {
	for *left > 0 {
		limit, cancel := context.WithTimeout(ctx, silence)
		m, err := sub.NextMsgWithContext(limit)
		cancel()
		switch {
		case err != nil && ctx.Err() != nil:
			return false, nil
		case errors.Is(err, context.DeadlineExceeded):
			return false, fmt.Errorf("the server is silent: %w", err)
		case err != nil:
			return false, err
		}
		if status := m.Header.Get("Status"); status != "" && len(m.Data) == 0 {
			switch status {
			case "100": // a heartbeat
				continue
			case "404", "408": // no message, or no other within the time
				return true, nil
			case "503":
				return true, nats.ErrNoResponders
			}
			return true, fmt.Errorf("%w: %s %s", errAnswer, status, m.Header.Get("Description"))
		}
		*left--
		meta, err := m.Metadata()
		if err != nil {
			return false, err
		}
		trace, wrong := wire.ParseTrace(m.Header.Get(wire.TraceParent), m.Header.Get(wire.TraceState))
		f(&Delivery{c.q, m, meta, trace, wrong})
	}
	return true, nil
}
