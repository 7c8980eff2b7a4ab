package jet

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/magpie-go/magpie/executor/cluster/internal/served"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"
)

// connect returns a connection that is closed with the test.
func connect(t *testing.T, s *server.Server) *nats.Conn {
	t.Helper()
	nc, err := nats.Connect("", nats.InProcessServer(s), nats.Timeout(time.Minute))
	require.NoError(t, err)
	t.Cleanup(nc.Close)
	return nc
}

// TestSlowAnswers: a read takes as long as answers come, and longer than a silence of the server may be.
func TestSlowAnswers(t *testing.T) {
	t.Parallel()
	s := served.Other(t, &server.Options{})
	const n = 10
	slow := connect(t, s)
	_, err := slow.Subscribe("$JS.API.DIRECT.GET.KV_magpie-q", func(m *nats.Msg) {
		answer := func(header nats.Header) {
			_ = slow.PublishMsg(&nats.Msg{Subject: m.Reply, Header: header, Data: []byte("value")})
			_ = slow.Flush()
		}
		for i := range n {
			time.Sleep(tryTime * 5 / 4 / n)
			answer(nats.Header{
				"Nats-Subject": {fmt.Sprintf("$KV.magpie-q.r.a.o.%d", i)}, "Nats-Sequence": {strconv.Itoa(i + 1)},
			})
		}
		answer(nats.Header{"Status": {"204"}, "Nats-Num-Pending": {"0"}})
	})
	require.NoError(t, err)
	require.NoError(t, slow.Flush())

	q := &Queue{c: Config{Queue: "q", Replicas: 1}, nc: connect(t, s)}
	q.gets, err = newReader(q.nc)
	require.NoError(t, err)
	var keys []string
	for i := range n {
		keys = append(keys, fmt.Sprintf("r.a.o.%d", i))
	}
	// A busy machine may be silent for that long, but not again and again.
	require.Eventually(t, func() bool {
		found, err := q.Get(t.Context(), keys...)
		return err == nil && len(found) == n && string(found[n-1].Value) == "value"
	}, 2*time.Minute, time.Millisecond)
}

// TestForgottenQuestion: a server that does not answer a question, since it was killed, is asked again, long before the
// context of the caller ends.
func TestForgottenQuestion(t *testing.T) {
	t.Parallel()
	s := served.Other(t, &server.Options{})
	forgetful := connect(t, s)
	var asked atomic.Int64
	_, err := forgetful.Subscribe("$JS.API.STREAM.INFO.KV_magpie-q", func(m *nats.Msg) {
		if asked.Add(1) > 1 {
			_ = m.Respond([]byte(`{"error":{"code":404,"err_code":10059,"description":"stream not found"}}`))
		}
	})
	require.NoError(t, err)
	require.NoError(t, forgetful.Flush())

	nc := connect(t, s)
	js, err := jetstream.New(nc)
	require.NoError(t, err)
	q := &Queue{c: Config{Queue: "q", Replicas: 1}, nc: nc, js: js, reconnects: newReconnects(nc, func() {})}
	ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	for _, ask := range []func() error{
		func() error { _, err := q.Follow(ctx, Follower{}, "c.*"); return err },
		func() error { _, err := q.Watch(ctx, nil); return err },
	} {
		testkit.Fits(t, func() string { // a busy machine may be silent for too long, and the question comes once more
			asked.Store(0)
			err := ask()
			if n := asked.Load(); n != 2 || !errors.Is(err, jetstream.ErrStreamNotFound) {
				return fmt.Sprintf("it was asked %d times: %v", n, err)
			}
			return ""
		})
	}
}

// TestLateRead: the answer to a read that began before the records became others is not taken for one of these.
func TestLateRead(t *testing.T) {
	t.Parallel()
	s := served.Other(t, &server.Options{})
	slow := connect(t, s)
	begun, answer := make(chan struct{}, 2), make(chan struct{}, 2)
	_, err := slow.Subscribe("$JS.API.DIRECT.GET.KV_magpie-q", func(m *nats.Msg) {
		begun <- struct{}{}
		<-answer
		_ = slow.PublishMsg(&nats.Msg{Subject: m.Reply, Data: []byte("{}"), Header: nats.Header{
			"Nats-Subject": {"$KV.magpie-q.r.a.state"}, "Nats-Sequence": {"7"}}})
		_ = slow.PublishMsg(&nats.Msg{Subject: m.Reply, Header: nats.Header{"Status": {"204"}, "Nats-Num-Pending": {"0"}}})
	})
	require.NoError(t, err)
	require.NoError(t, slow.Flush())

	q := &Queue{c: Config{Queue: "q", Replicas: 1}, nc: connect(t, s)}
	q.gets, err = newReader(q.nc)
	require.NoError(t, err)
	states := newStates(q)
	read := func(meanwhile func()) {
		require.Eventually(t, func() bool { // a busy machine may be silent for too long
			ended := make(chan error, 1)
			go func() {
				_, err := states.Get(t.Context(), "r.a.state")
				ended <- err
			}()
			<-begun
			meanwhile()
			answer <- struct{}{}
			return <-ended == nil
		}, 2*time.Minute, time.Millisecond)
	}
	read(states.forget)
	require.Zero(t, states.Known("a"))
	read(func() {})
	require.EqualValues(t, 7, states.Known("a").Revision)
}
