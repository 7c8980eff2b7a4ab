package jet

import (
	"context"
	"fmt"
	"time"

	"github.com/magpie-go/magpie/executor/cluster/internal/wire"
	"github.com/nats-io/nats.go"
)

// A Delivery implements protocol.Delivery. Its acknowledgements are sent without an answer of the server: one that is
// lost is another delivery, after the lease.
type Delivery struct {
	q    *Queue
	m    *nats.Msg
	meta *nats.MsgMetadata

	trace wire.Trace
	wrong error // about the headers of the trace
}

func (d *Delivery) Raw() []byte { return d.m.Data }

// Deliveries is how often the message was delivered, this one included.
func (d *Delivery) Deliveries() uint64 { return d.meta.NumDelivered }

// Stored is when the server stored the message, by the server's clock.
func (d *Delivery) Stored() time.Time { return d.meta.Timestamp }

// Age is how long ago that is, at least.
func (d *Delivery) Age() time.Duration { return d.q.clock.since(d.meta.Timestamp) }

// Trace is that of the headers of the message, as far as they are well-formed. Malformed is the error if they are not.
func (d *Delivery) Trace() wire.Trace { return d.trace }
func (d *Delivery) Malformed() error  { return d.wrong }

// Ack removes the message from the queue.
func (d *Delivery) Ack(ctx context.Context) error { return d.answer(ctx, "+ACK") }

// Nak has the message delivered again after the delay.
func (d *Delivery) Nak(ctx context.Context, delay time.Duration) error {
	if delay <= 0 {
		return d.answer(ctx, "-NAK")
	}
	return d.answer(ctx, fmt.Sprintf(`-NAK {"delay": %d}`, delay.Nanoseconds()))
}

// Extend renews the lease.
func (d *Delivery) Extend(ctx context.Context) error { return d.answer(ctx, "+WPI") }

func (d *Delivery) answer(_ context.Context, verb string) error {
	if err := d.q.nc.Publish(d.m.Reply, []byte(verb)); err != nil {
		return d.q.explain("answer a delivery", err)
	}
	return nil
}
