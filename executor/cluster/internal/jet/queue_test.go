package jet_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/magpie-go/magpie/executor/cluster/embedded"
	"github.com/magpie-go/magpie/executor/cluster/internal/jet"
	"github.com/magpie-go/magpie/executor/cluster/internal/protocol"
	"github.com/magpie-go/magpie/executor/cluster/internal/served"
	"github.com/magpie-go/magpie/executor/cluster/internal/wire"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"
)

var (
	_ protocol.Store    = (*jet.Queue)(nil)
	_ protocol.Stock    = (*jet.Queue)(nil)
	_ protocol.Store    = (*jet.States)(nil)
	_ protocol.States   = (*jet.States)(nil)
	_ protocol.Plans    = (*jet.Plans)(nil)
	_ protocol.Delivery = (*jet.Delivery)(nil)
)

// config is a queue whose leases do not end while a busy machine runs a test.
var config = jet.Config{Queue: "q", Replicas: 1, Keep: time.Hour, Lease: time.Minute}

// open opens a queue that is closed with the test.
func open(t *testing.T, nc *nats.Conn, c jet.Config) *jet.Queue {
	t.Helper()
	q, err := jet.Open(t.Context(), nc, c)
	require.NoError(t, err)
	t.Cleanup(q.Close)
	return q
}

// TestRecords: records are created once, and updated by compare-and-set. What is read at once may have gaps.
func TestRecords(t *testing.T) {
	q := open(t, served.Start(t, embedded.Config{}).Conn(), config)
	ctx := t.Context()
	require.NoError(t, q.Create(ctx, "r.a.o.0", []byte("one")))
	require.ErrorIs(t, q.Create(ctx, "r.a.o.0", []byte("two")), protocol.ErrExists)
	require.ErrorIs(t, q.Update(ctx, "r.a.o.1", []byte("two"), 7), protocol.ErrConflict)

	found, err := q.Get(ctx, "r.a.o.1", "r.a.o.0", "r.a.state")
	require.NoError(t, err)
	require.Len(t, found, 3)
	require.Zero(t, found[0])
	require.Equal(t, "one", string(found[1].Value))
	require.Zero(t, found[2])

	require.NoError(t, q.Update(ctx, "r.a.o.0", []byte("two"), found[1].Revision))
	require.ErrorIs(t, q.Update(ctx, "r.a.o.0", []byte("three"), found[1].Revision), protocol.ErrConflict)
	found, err = q.Get(ctx, "r.a.o.0")
	require.NoError(t, err)
	require.Equal(t, "two", string(found[0].Value))
	require.NoError(t, q.Create(ctx, "r.a.empty", nil))
	found, err = q.Get(ctx, "r.a.empty")
	require.NoError(t, err)
	require.NotZero(t, found[0].Revision)
	found, err = q.Get(ctx)
	require.NoError(t, err)
	require.Empty(t, found)
}

// TestManyRecords: more records are read at once than one request of the server may ask for.
func TestManyRecords(t *testing.T) {
	q := open(t, served.Start(t, embedded.Config{}).Conn(), config)
	const n = 1300
	keys := make([]string, n)
	for i := range keys {
		keys[i] = protocol.OutputKey("a", i)
	}
	require.NoError(t, jet.Each(n, func(i int) error {
		if i%3 == 0 {
			return nil
		}
		return q.Create(t.Context(), keys[i], []byte(keys[i]))
	}))
	found, err := q.Get(t.Context(), keys...)
	require.NoError(t, err)
	for i, r := range found {
		if i%3 == 0 {
			require.Zero(t, r)
		} else {
			require.Equal(t, keys[i], string(r.Value))
		}
	}
}

// TestObjects: an object of any size comes back, is not changed by another who writes it, and one that is not there is
// ErrMissing.
func TestObjects(t *testing.T) {
	s := served.Start(t, embedded.Config{})
	q, other := open(t, s.Conn(), config), open(t, s.Conn(), config)
	rnd := rand.NewChaCha8([32]byte{})
	for _, size := range []int{0, 1, 256<<10 - 1, 256 << 10, 256<<10 + 1, 3 << 20, 12 << 20} {
		value := make([]byte, size)
		rnd.Read(value)
		hash, err := q.PutObject(t.Context(), value)
		require.NoError(t, err)
		again, err := other.PutObject(t.Context(), value)
		require.NoError(t, err)
		require.Equal(t, hash, again)
		got, err := other.GetObject(t.Context(), hash)
		require.NoError(t, err)
		require.True(t, bytes.Equal(value, got), "size %d", size)
	}
	for _, hash := range []string{"", "x", "*", ">", strings.Repeat("0", 64)} {
		_, err := q.GetObject(t.Context(), hash)
		require.ErrorIs(t, err, protocol.ErrMissing, hash)
	}
}

// TestBury: a dead letter has the message, however large, and the reason, whatever its bytes.
func TestBury(t *testing.T) {
	nc := served.Start(t, embedded.Config{}).Conn()
	q := open(t, nc, config)
	large := bytes.Repeat([]byte{7}, int(nc.MaxPayload()))
	require.NoError(t, q.Bury(t.Context(), protocol.Letter{Raw: []byte("raw"), Deliveries: 7, Why: "a\r\nb"}))
	require.NoError(t, q.Bury(t.Context(), protocol.Letter{Raw: large, Why: strings.Repeat("why", 9000), ID: "id"}))
	require.NoError(t, q.Bury(t.Context(), protocol.Letter{Raw: large, Why: "the server has seen the ID", ID: "id"}))

	js, err := jetstream.New(nc)
	require.NoError(t, err)
	s, err := js.Stream(t.Context(), "magpie-dead-q")
	require.NoError(t, err)
	require.EqualValues(t, 2, s.CachedInfo().State.Msgs)
	first, err := s.GetMsg(t.Context(), 1)
	require.NoError(t, err)
	require.Equal(t, "raw", string(first.Data))
	require.Equal(t, "a  b", first.Header.Get("Magpie-Why"))
	second, err := s.GetMsg(t.Context(), 2)
	require.NoError(t, err)
	raw, err := q.GetObject(t.Context(), second.Header.Get("Magpie-Object"))
	require.NoError(t, err)
	require.True(t, bytes.Equal(large, raw))

	var all []jet.Letter
	for l, err := range q.Letters(t.Context()) {
		require.NoError(t, err)
		all = append(all, l)
	}
	require.Len(t, all, 2)
	require.Equal(t, protocol.Letter{Raw: []byte("raw"), Deliveries: 7, Why: "a  b"}, all[0].Letter)
	require.True(t, bytes.Equal(large, all[1].Raw))
	require.Equal(t, second.Sequence, all[1].Number)
	objects, err := js.Stream(t.Context(), "magpie-objects-q")
	require.NoError(t, err)
	require.NoError(t, objects.Purge(t.Context()))
	for l, err := range q.Letters(t.Context()) {
		require.NoError(t, err)
		require.Equal(t, l.Number == all[1].Number, len(l.Raw) == 0, "its object was removed")
	}
}

// TestStates: contexts end when the state of their run is seen to be final, whether before or after they were made, and
// also by a watch that has gone through a restart of the server.
func TestStates(t *testing.T) {
	t.Parallel()
	s := served.Start(t, embedded.Config{})
	q := open(t, s.Conn(), config)
	states, err := q.Watch(t.Context(), func(err error) { t.Error(err) }) // nothing is lost
	require.NoError(t, err)
	t.Cleanup(states.Stop)
	set := func(run string, phase wire.Phase) {
		t.Helper()
		found, err := q.Get(t.Context(), protocol.StateKey(run))
		require.NoError(t, err)
		value := wire.Encode(wire.State{V: 1, Phase: phase})
		if found[0].Revision == 0 {
			require.NoError(t, q.Create(t.Context(), protocol.StateKey(run), value))
		} else {
			require.NoError(t, q.Update(t.Context(), protocol.StateKey(run), value, found[0].Revision))
		}
	}
	ended := func(ctx context.Context) {
		t.Helper()
		select {
		case <-ctx.Done():
			require.ErrorIs(t, context.Cause(ctx), protocol.ErrEnded)
		case <-time.After(time.Minute):
			t.Fatal("the context has not ended")
		}
	}
	set("a", wire.Running)
	set("b", wire.Running)
	a, stopA := states.Until(t.Context(), "a")
	defer stopA()
	b, stopB := states.Until(t.Context(), "b")
	defer stopB()
	set("a", wire.Cancelled)
	ended(a)
	require.NoError(t, b.Err())
	again, stop := states.Until(t.Context(), "a")
	defer stop()
	ended(again)

	s.Stop()
	s.Again()
	require.Eventually(t, func() bool {
		found, err := q.Get(t.Context(), protocol.StateKey("b"))
		return err == nil && found[0].Revision != 0
	}, time.Minute, time.Millisecond)
	set("b", wire.Done)
	ended(b)

	// A state that was read is known, and an older one does not replace it.
	set("c", wire.Running)
	_, err = states.Get(t.Context(), protocol.StateKey("c"))
	require.NoError(t, err)
	require.NotZero(t, states.Known("c").Revision)
	require.Zero(t, states.Known("d").Revision)
}

// TestPlans: a plan is loaded once, and forgotten if others need its room.
func TestPlans(t *testing.T) {
	q := open(t, served.Start(t, embedded.Config{}).Conn(), config)
	counted := &counting{Store: q}
	var hashes []string
	for i := range 3 {
		plan := wire.Plan{V: 1, Graph: []byte(fmt.Sprint(i)), Parts: []wire.PlanPart{{Class: "c"}}}
		hash, err := q.PutObject(t.Context(), wire.Encode(plan))
		require.NoError(t, err)
		hashes = append(hashes, hash)
	}
	plans := jet.NewPlans(counted, 150) // each has some 60 bytes
	for _, i := range []int{0, 0, 1, 0, 2, 0, 1} {
		p, err := plans.Plan(t.Context(), hashes[i])
		require.NoError(t, err)
		require.Equal(t, fmt.Sprint(i), string(p.Graph))
	}
	require.Equal(t, 4, counted.objects, "0, 1 and 2 are loaded, and 1 again, which 2 has displaced")
	_, err := plans.Plan(t.Context(), strings.Repeat("0", 64))
	require.ErrorIs(t, err, protocol.ErrMissing)
	bad, err := q.PutObject(t.Context(), []byte("{"))
	require.NoError(t, err)
	_, err = plans.Plan(t.Context(), bad)
	require.ErrorIs(t, err, wire.ErrMalformed)
}

// counting counts the objects that are read.
type counting struct {
	protocol.Store
	objects int
}

func (c *counting) GetObject(ctx context.Context, hash string) ([]byte, error) {
	c.objects++
	return c.Store.GetObject(ctx, hash)
}

// TestRefusals: what a server does not allow is an error that says what is to be done.
func TestRefusals(t *testing.T) {
	t.Parallel()
	connect := func(s *server.Server, opts ...nats.Option) *nats.Conn {
		nc, err := nats.Connect("", append(opts, nats.InProcessServer(s), nats.Timeout(time.Minute))...)
		require.NoError(t, err)
		t.Cleanup(nc.Close)
		return nc
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()

	t.Run("no JetStream", func(t *testing.T) {
		_, err := jet.Open(ctx, connect(served.Other(t, &server.Options{})), config)
		require.ErrorContains(t, err, "start the server with it (-js)")
	})
	t.Run("permissions", func(t *testing.T) {
		s := served.Other(t, &server.Options{JetStream: true, AuthTimeout: 60, Users: []*server.User{{
			Username: "u", Password: "p",
			Permissions: &server.Permissions{Publish: &server.SubjectPermission{Deny: []string{"$JS.API.STREAM.>"}}},
		}}})
		nc := connect(s, nats.UserInfo("u", "p"))
		testkit.Fits(t, func() string { // a busy server may not have told the connection within the time
			short, cancel := context.WithTimeout(t.Context(), 2*time.Second) // it does not answer
			defer cancel()
			_, err := jet.Open(short, nc, config)
			require.ErrorContains(t, err, "magpie-work-q")
			if !strings.Contains(err.Error(), "the user of the connection may not do this") {
				return err.Error()
			}
			return ""
		})
	})
	t.Run("name", func(t *testing.T) {
		nc := connect(served.Other(t, &server.Options{JetStream: true}))
		for _, name := range []string{"", "a.b", "*", "a b", strings.Repeat("a", 200)} {
			c := config
			c.Queue = name
			_, err := jet.Open(ctx, nc, c)
			require.ErrorContains(t, err, "the name of the queue")
		}
	})
	t.Run("foreign stream", func(t *testing.T) {
		nc := connect(served.Other(t, &server.Options{JetStream: true}))
		js, err := jetstream.New(nc)
		require.NoError(t, err)
		_, err = js.CreateStream(ctx, jetstream.StreamConfig{Name: "magpie-work-q", Subjects: []string{"x"}})
		require.NoError(t, err)
		_, err = jet.Open(ctx, nc, config)
		require.ErrorContains(t, err, "is not one of Magpie")
	})
	t.Run("subjects taken", func(t *testing.T) {
		nc := connect(served.Other(t, &server.Options{JetStream: true}))
		js, err := jetstream.New(nc)
		require.NoError(t, err)
		_, err = js.CreateStream(ctx, jetstream.StreamConfig{Name: "all", Subjects: []string{"magpie.>"}})
		require.NoError(t, err)
		_, err = jet.Open(ctx, nc, config)
		require.ErrorContains(t, err, "subjects overlap")
	})
	t.Run("replicas", func(t *testing.T) {
		c := config
		c.Replicas = 3
		_, err := jet.Open(ctx, connect(served.Other(t, &server.Options{JetStream: true})), c)
		require.ErrorContains(t, err, "replicas > 1 not supported in non-clustered mode: the server is alone: ask for one")
	})
	t.Run("ended", func(t *testing.T) {
		ended, cancel := context.WithCancel(ctx)
		cancel()
		_, err := jet.Open(ended, connect(served.Other(t, &server.Options{JetStream: true})), config)
		require.ErrorIs(t, err, context.Canceled)
	})
}

// TestForeignKeep: a queue keeps what its first user said, also of the lease.
func TestForeignKeep(t *testing.T) {
	nc := served.Start(t, embedded.Config{}).Conn()
	open(t, nc, config)
	c := config
	c.Keep, c.Lease = time.Minute, time.Second
	q := open(t, nc, c)
	require.Equal(t, time.Hour, q.Keep())
	class := q.Class("c")
	require.NoError(t, class.Open(t.Context()))
	require.Equal(t, time.Minute, class.Lease())
}
