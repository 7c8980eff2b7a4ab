package jet_test

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/magpie-go/magpie/executor/cluster/embedded"
	"github.com/magpie-go/magpie/executor/cluster/internal/jet"
	"github.com/magpie-go/magpie/executor/cluster/internal/protocol"
	"github.com/magpie-go/magpie/executor/cluster/internal/served"
	"github.com/magpie-go/magpie/executor/cluster/internal/wire"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"
)

// TestDeliveries: a message is delivered to one worker, again after a Nak, and not after an Ack, also by a server that
// was started again.
func TestDeliveries(t *testing.T) {
	s := served.Start(t, embedded.Config{})
	q := open(t, s.Conn(), config)
	ctx := t.Context()
	m := wire.Message{V: 1, Kind: wire.Part, Run: "a", Part: 1, Plan: "p"}
	post := protocol.Post{Class: "c", Message: m, ID: m.ID()}
	require.NoError(t, q.Publish(ctx, post, post)) // the server drops one of them
	c := q.Class("c")
	require.NoError(t, c.Open(ctx))
	require.Equal(t, time.Minute, c.Lease())

	next := func() *jet.Delivery {
		var got *jet.Delivery
		for got == nil {
			require.NoError(t, c.Next(ctx, time.Minute, func(d *jet.Delivery) { got = d }))
		}
		return got
	}
	d := next()
	require.Equal(t, string(wire.Encode(m)), string(d.Raw()))
	require.EqualValues(t, 1, d.Deliveries())
	require.GreaterOrEqual(t, d.Age(), time.Duration(0))
	require.NoError(t, c.Now(1, func(*jet.Delivery) { t.Error("the message is leased, and was delivered") }))
	require.NoError(t, d.Extend(ctx))
	require.NoError(t, d.Nak(ctx, 0))
	d = next()
	require.EqualValues(t, 2, d.Deliveries())
	require.NoError(t, d.Nak(ctx, time.Millisecond))
	d = next()
	require.EqualValues(t, 3, d.Deliveries())

	s.Stop()
	s.Again()
	require.NoError(t, d.Ack(ctx)) // the connection keeps it until it is there again
	m.Part = 2
	require.Eventually(t, func() bool {
		return q.Publish(ctx, protocol.Post{Class: "c", Message: m, ID: m.ID()}) == nil
	}, time.Minute, time.Millisecond)
	d = next()
	require.Equal(t, string(wire.Encode(m)), string(d.Raw()))
	require.NoError(t, d.Ack(ctx))
}

// TestTraces: a message has the trace that it was published with, and none if its headers are malformed.
func TestTraces(t *testing.T) {
	nc := served.Start(t, embedded.Config{}).Conn()
	q := open(t, nc, config)
	c := q.Class("c")
	require.NoError(t, c.Open(t.Context()))
	next := func() (got *jet.Delivery) {
		for got == nil {
			require.NoError(t, c.Next(t.Context(), time.Minute, func(d *jet.Delivery) { got = d }))
		}
		return got
	}
	parent := "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	for _, trace := range []wire.Trace{{}, {Parent: parent}, {Parent: parent, State: "a=1"}} {
		m := wire.Message{V: 1, Kind: wire.Part, Run: "a", Plan: "p"}
		require.NoError(t, q.Publish(t.Context(), protocol.Post{Class: "c", Message: m, Trace: trace}))
		d := next()
		require.Equal(t, trace, d.Trace())
		require.NoError(t, d.Malformed())
	}
	require.NoError(t, nc.PublishMsg(&nats.Msg{Subject: "magpie.q.work.c", Header: nats.Header{"traceparent": {"x"}}}))
	d := next()
	require.Zero(t, d.Trace())
	require.ErrorIs(t, d.Malformed(), wire.ErrMalformed)
}

// TestPullEnds: a message that is on its way to a worker when its pull ends comes to the worker, which can give it back.
// If the server has not sent it yet, it sends it to the next pull. In no case does it wait for its lease.
func TestPullEnds(t *testing.T) {
	t.Parallel()
	s := served.Start(t, embedded.Config{})
	long := config
	long.Lease = time.Hour
	q := open(t, s.Conn(), long)
	nc, freeze := s.Freezable()
	c := open(t, nc, long).Class("c")
	require.NoError(t, c.Open(t.Context()))
	leased := func() uint64 {
		b, err := q.Backlog(t.Context())
		require.NoError(t, err)
		return b.Leased
	}
	m := wire.Message{V: 1, Kind: wire.Part, Run: "a", Part: 1, Plan: "p"}
	for range 3 {
		ctx, cancel := context.WithCancel(t.Context())
		got := make(chan *jet.Delivery, 1)
		ended := make(chan error, 1)
		go func() { ended <- c.Next(ctx, time.Minute, func(d *jet.Delivery) { got <- d }) }()
		require.Eventually(t, func() bool { return waiting(t, s.Conn()) == 1 }, time.Minute, time.Millisecond)
		freeze(true)
		require.NoError(t, q.Publish(t.Context(), protocol.Post{Class: "c", Message: m}))
		require.Eventually(t, func() bool { return leased() == 1 }, time.Minute, time.Millisecond)
		cancel()
		freeze(false)
		require.NoError(t, <-ended)
		require.Eventually(t, func() bool {
			return len(got) == 1 || c.Now(1, func(d *jet.Delivery) { got <- d }) == nil && len(got) == 1
		}, time.Minute, time.Millisecond)
		require.NoError(t, (<-got).Ack(t.Context()))
		require.Eventually(t, func() bool { return leased() == 0 }, time.Minute, time.Millisecond)
	}
}

// waiting returns how many requests wait at the server for messages of class c.
func waiting(t *testing.T, nc *nats.Conn) int {
	t.Helper()
	defer nc.Close()
	js, err := jetstream.New(nc)
	require.NoError(t, err)
	cons, err := js.Consumer(t.Context(), "magpie-work-q", "c")
	require.NoError(t, err)
	return cons.CachedInfo().NumWaiting
}

// TestReconnects: a request for messages that waits at a server ends when the connection was lost and is there again,
// since a server that was killed has forgotten it.
func TestReconnects(t *testing.T) {
	t.Parallel()
	s := served.Start(t, embedded.Config{})
	nc := s.Conn()
	c := open(t, nc, config).Class("c")
	require.NoError(t, c.Open(t.Context()))
	for range 3 {
		ended := make(chan error, 1)
		go func() { ended <- c.Next(t.Context(), time.Hour, func(*jet.Delivery) {}) }()
		require.Eventually(t, func() bool { return waiting(t, s.Conn()) > 0 }, time.Minute, time.Millisecond)
		require.NoError(t, nc.ForceReconnect())
		require.NoError(t, <-ended)
	}
}

// TestClosedConnection: what a queue does in the background ends when its connection is closed.
func TestClosedConnection(t *testing.T) {
	nc := served.Start(t, embedded.Config{}).Conn()
	q := open(t, nc, config)
	_, err := q.Watch(t.Context(), func(error) {})
	require.NoError(t, err)
	_, err = q.Follow(t.Context(), jet.Follower{Note: func(string, []byte) {}}, "w.*")
	require.NoError(t, err)
	nc.Close()
	stacks := make([]byte, 1<<20)
	require.Eventually(t, func() bool {
		all := string(stacks[:runtime.Stack(stacks, true)])
		return !strings.Contains(all, "internal/jet.(*Queue).watch") && !strings.Contains(all, "internal/jet.newReconnects")
	}, time.Minute, 5*time.Millisecond)
}

// TestPoolWaits: a pool takes the messages of a class as soon as the server can open it.
func TestPoolWaits(t *testing.T) {
	t.Parallel()
	nc := served.Start(t, embedded.Config{}).Conn()
	q := open(t, nc, config)
	js, err := jetstream.New(nc)
	require.NoError(t, err)
	require.NoError(t, js.DeleteStream(t.Context(), "magpie-work-q"))

	handled := make(chan struct{}, 1)
	reported := make(chan error, 100)
	pool := jet.NewPool(1, func(ctx context.Context, d *jet.Delivery) {
		if d.Ack(ctx) == nil {
			handled <- struct{}{}
		}
	}, func(err error) {
		select {
		case reported <- err:
		default:
		}
	})
	defer pool.Stop(t.Context())
	pool.Serve(q.Class("c"))
	require.ErrorContains(t, <-reported, "open class c")
	open(t, nc, config)
	m := wire.Message{V: 1, Kind: wire.Part, Run: "a", Part: 1, Plan: "p"}
	require.NoError(t, q.Publish(t.Context(), protocol.Post{Class: "c", Message: m}))
	<-handled
}

// TestConsumerRemoved: a pool whose consumer was removed makes it again, while it handles messages of the old one.
func TestConsumerRemoved(t *testing.T) {
	t.Parallel()
	nc := served.Start(t, embedded.Config{}).Conn()
	short := config
	short.Lease = time.Second
	q := open(t, nc, short)
	begun, end := make(chan struct{}, 99), make(chan struct{})
	pool := jet.NewPool(2, func(context.Context, *jet.Delivery) {
		begun <- struct{}{}
		<-end
	}, func(err error) { t.Log(err) })
	pool.Serve(q.Class("c"))
	publish := func(run string) {
		m := wire.Message{V: 1, Kind: wire.Part, Run: run, Part: 1, Plan: "p"}
		require.NoError(t, q.Publish(t.Context(), protocol.Post{Class: "c", Message: m}))
	}
	publish("a")
	<-begun
	js, err := jetstream.New(nc)
	require.NoError(t, err)
	require.NoError(t, js.DeleteConsumer(t.Context(), "magpie-work-q", "c"))
	publish("b")
	<-begun
	time.Sleep(short.Lease) // the leases of both are renewed meanwhile
	close(end)
	pool.Stop(t.Context())
}

// TestLostLease: a lease that ends while the server is away is counted once.
func TestLostLease(t *testing.T) {
	t.Parallel()
	testkit.Fits(t, func() string { // a busy machine may end the lease before, and deliver the message once more
		if n := lostLeases(t); n != 1 {
			return fmt.Sprintf("it was counted %d times", n)
		}
		return ""
	})
}

// lostLeases returns how many leases a pool counts as lost with one message.
func lostLeases(t *testing.T) int {
	t.Helper()
	s := served.Start(t, embedded.Config{})
	short := config
	short.Lease = 2 * time.Second
	q := open(t, s.Conn(), short)
	begun, end := make(chan struct{}, 9), make(chan struct{})
	pool := jet.NewPool(1, func(ctx context.Context, d *jet.Delivery) {
		begun <- struct{}{}
		<-end
		_ = d.Ack(ctx)
	}, func(err error) { t.Log(err) })
	lost := make(chan struct{}, 9)
	pool.Lost = func() { lost <- struct{}{} }
	pool.Serve(q.Class("c"))
	m := wire.Message{V: 1, Kind: wire.Part, Run: "a", Part: 1, Plan: "p"}
	require.NoError(t, q.Publish(t.Context(), protocol.Post{Class: "c", Message: m}))
	<-begun
	s.Stop()
	counted := 1
	<-lost
	close(end)
	pool.Stop(t.Context())
	return counted + len(lost)
}
