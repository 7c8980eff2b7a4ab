package cluster_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"github.com/magpie-go/magpie/executor/cluster"
)

// letters returns the dead letters.
func letters(t *testing.T, c *cluster.Client) (all []cluster.DeadLetter) {
	t.Helper()
	for l, err := range c.DeadLetters(within(t)) {
		require.NoError(t, err)
		all = append(all, l)
	}
	return all
}

// twoParts returns a graph of two partitions, one after the other.
func twoParts(f *functions) *cluster.Graph {
	g := cluster.NewGraph("two")
	f.double.Call(g, f.one.Call(g).Cost(cluster.DefaultTarget)).Cost(cluster.DefaultTarget)
	return g
}

// TestDeadLetters: letters say what they are about, stay through restarts of the server, and go when they are removed.
// A copy of the message of one, put into the queue again, leads nowhere: that is why there is no way to do so.
func TestDeadLetters(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	f := newFunctions()
	stop := work(t, s.server.Conn(), s.ex, f.reg, cluster.WorkerConfig{})
	require.Empty(t, letters(t, s.client))
	js, err := jetstream.New(s.server.Conn())
	require.NoError(t, err)
	publish := func(subject, data string) {
		t.Helper()
		_, err := js.Publish(within(t), subject, []byte(data))
		require.NoError(t, err)
	}
	publish("$KV.magpie-q.r.spoilt.o.0", "spoilt")
	h, err := s.client.Submit(within(t), twoParts(f), cluster.Submission{ID: "spoilt"})
	require.NoError(t, err)
	var failed *cluster.RunError
	_, err = h.Wait(within(t))
	require.ErrorAs(t, err, &failed)
	require.Equal(t, cluster.Corrupt, failed.Reason)
	messages, err := js.Stream(within(t), "magpie-work-q")
	require.NoError(t, err)
	var class string
	for name := range messages.ConsumerNames(within(t)).Name() {
		class = "magpie.q.work." + name
	}
	publish(class, "foreign")
	dead := func(n uint64) {
		t.Helper()
		require.Eventually(t, func() bool { return s.messages("magpie-dead-q") == n }, patience, 10*time.Millisecond)
	}
	dead(2)
	older := `{"v":1,"kind":"part","run":"older","part":3,"plan":"gone"}` // without headers
	publish("magpie.q.dead", older)

	again := func() {
		t.Helper()
		s.server.Stop()
		s.server.Again()
		s.client = s.newClient(queue)
	}
	stop()
	again()
	all := letters(t, s.client)
	require.Len(t, all, 3)
	for i, l := range all {
		require.EqualValues(t, i+1, l.ID)
		require.False(t, l.At.IsZero())
	}
	first := all[0]
	require.Equal(t, "spoilt", first.Run)
	require.Equal(t, "two", first.Graph)
	require.Equal(t, 1, first.Part)
	require.Equal(t, 1, first.Calls)
	require.Equal(t, "double#1", first.Call)
	require.EqualValues(t, 1, first.Deliveries)
	require.Contains(t, first.Why, "corrupt: malformed output")
	require.Equal(t, cluster.DeadLetter{ID: 2, At: all[1].At, Part: -1, Deliveries: 1, Why: all[1].Why}, all[1])
	require.Contains(t, all[1].Why, "malformed message")
	require.Equal(t, cluster.DeadLetter{ID: 3, At: all[2].At, Run: "older", Part: 3}, all[2])

	js, err = jetstream.New(s.server.Conn())
	require.NoError(t, err)
	st, err := js.Stream(within(t), "magpie-dead-q")
	require.NoError(t, err)
	m, err := st.GetMsg(within(t), first.ID)
	require.NoError(t, err)
	publish(class, string(m.Data))
	publish(class, "foreign")
	stop = work(t, s.server.Conn(), s.ex, f.reg, cluster.WorkerConfig{})
	dead(4)
	s.settled()
	dead(4)
	h, err = s.client.Attach(within(t), "spoilt")
	require.NoError(t, err)
	_, err = h.Wait(within(t))
	require.ErrorAs(t, err, &failed)

	for range 2 { // one that another has removed meanwhile is gone all the same
		err = errors.Join(err, s.client.RemoveDeadLetter(within(t), 2))
	}
	require.ErrorIs(t, err, cluster.ErrNoLetter)
	require.ErrorIs(t, s.client.RemoveDeadLetter(within(t), 0), cluster.ErrNoLetter)
	stop()
	again()
	var ids []uint64
	for _, l := range letters(t, s.client) {
		ids = append(ids, l.ID)
		require.NoError(t, s.client.RemoveDeadLetter(within(t), l.ID))
	}
	require.Equal(t, []uint64{1, 3, 4}, ids)
	b, err := s.client.Backlog(within(t))
	require.NoError(t, err)
	require.Zero(t, b)
	again()
	require.Empty(t, letters(t, s.client))

	ended, end := context.WithCancel(t.Context())
	end()
	for _, err = range s.client.DeadLetters(ended) {
	}
	require.ErrorIs(t, err, context.Canceled)
	require.ErrorContains(t, err, "cluster: dead letters: ")
}
