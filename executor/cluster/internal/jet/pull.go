package jet

import (
	"context"
	"errors"
	"time"

	"github.com/magpie-go/magpie/executor/cluster/internal/wire"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// A Class is the messages of one class, for a worker that serves it. All workers share one consumer.
type Class struct {
	q     *Queue
	name  string
	cons  jetstream.Consumer
	lease time.Duration
}

// unlimited is what the server takes for no limit.
const unlimited = -1

// Class returns a class, which is to be opened.
func (q *Queue) Class(name string) *Class { return &Class{q: q, name: name} }

// Open makes the consumer of the class, if there is none. Only the goroutine that pulls calls it again.
func (c *Class) Open(ctx context.Context) error {
	q, class := c.q, c.name
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	cons, err := q.js.Consumer(ctx, q.workStream(), class)
	if errors.Is(err, jetstream.ErrConsumerNotFound) {
		cons, err = q.js.CreateOrUpdateConsumer(ctx, q.workStream(), jetstream.ConsumerConfig{
			Durable:       class,
			Description:   "the workers that serve a class of messages",
			FilterSubject: q.work(class),
			AckPolicy:     jetstream.AckExplicitPolicy,
			AckWait:       q.c.Lease,
			// The server does not deliver a message again that has reached a limit, and tells no worker. So the protocol
			// counts.
			MaxDeliver: unlimited,
			// Workers ask for what they have room for. A limit would count the messages that wait for their delay, and
			// one run that fails would stop the others.
			MaxAckPending:     unlimited,
			InactiveThreshold: q.c.Keep, // the messages stay, and a consumer that is made again delivers them
		})
	}
	if err != nil {
		return q.explain("open class "+class, err)
	}
	c.cons, c.lease = cons, cons.CachedInfo().Config.AckWait
	return nil
}

// Lease is how long a delivery is left to a worker that does not renew it.
func (c *Class) Lease() time.Duration { return c.lease }

// Now calls f with the messages that wait, at most n.
func (c *Class) Now(n int, f func(*Delivery)) error {
	batch, err := c.cons.FetchNoWait(n)
	if err != nil {
		return c.q.explain("fetch", err)
	}
	return c.take(batch, f)
}

// Next calls f with the next message, if one comes within the time wait.
func (c *Class) Next(ctx context.Context, wait time.Duration, f func(*Delivery)) error {
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	batch, err := c.cons.Fetch(1, jetstream.FetchContext(ctx))
	if err != nil {
		return c.q.explain("fetch", err)
	}
	return c.take(batch, f)
}

func (c *Class) take(batch jetstream.MessageBatch, f func(*Delivery)) error {
	for m := range batch.Messages() {
		meta, err := m.Metadata()
		if err != nil {
			return c.q.explain("fetch", err)
		}
		trace, wrong := wire.ParseTrace(m.Headers().Get(wire.TraceParent), m.Headers().Get(wire.TraceState))
		f(&Delivery{c.q, m, meta, trace, wrong})
	}
	err := batch.Error()
	if err == nil || errors.Is(err, nats.ErrTimeout) || errors.Is(err, context.Canceled) ||
		errors.Is(err, context.DeadlineExceeded) {
		return nil
	}
	return c.q.explain("fetch", err)
}
