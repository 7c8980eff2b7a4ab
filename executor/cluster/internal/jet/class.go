package jet

import (
	"context"
	"errors"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// A Class is the messages of one class, for a worker that serves it. All workers share one consumer.
type Class struct {
	q     *Queue
	name  string
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
	c.lease = cons.CachedInfo().Config.AckWait
	return nil
}

// Lease is how long a delivery is left to a worker that does not renew it.
func (c *Class) Lease() time.Duration { return c.lease }
