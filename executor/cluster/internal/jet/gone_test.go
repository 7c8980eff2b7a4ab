package jet_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"github.com/magpie-go/magpie/executor/cluster/embedded"
	"github.com/magpie-go/magpie/executor/cluster/internal/jet"
	"github.com/magpie-go/magpie/executor/cluster/internal/protocol"
	"github.com/magpie-go/magpie/executor/cluster/internal/served"
	"github.com/magpie-go/magpie/executor/cluster/internal/wire"
)

// remake has the stream of the records made anew, while the clients are connected.
func remake(t *testing.T, s *served.Server) {
	nc := s.Conn()
	js, err := jetstream.New(nc)
	require.NoError(t, err)
	require.NoError(t, js.DeleteStream(t.Context(), "KV_magpie-q"))
	open(t, nc, config)
}

// lose has the server lose its store.
func lose(t *testing.T, s *served.Server) {
	s.Lose()
	open(t, s.Conn(), config)
}

// state writes the state of a run, which becomes that phase.
func state(t *testing.T, q *jet.Queue, run string, phase wire.Phase) {
	t.Helper()
	key, value := protocol.StateKey(run), wire.Encode(wire.State{V: 1, Phase: phase})
	require.Eventually(t, func() bool { // a server that has just started may not answer
		found, err := q.Get(t.Context(), key)
		switch {
		case err != nil:
		case found[0].Revision == 0:
			err = q.Create(t.Context(), key, value)
		default:
			err = q.Update(t.Context(), key, value, found[0].Revision)
		}
		return err == nil
	}, time.Minute, time.Millisecond)
}

// soon returns what comes within a minute.
func soon[T any](t *testing.T, c <-chan T) (v T) {
	t.Helper()
	select {
	case v = <-c:
	case <-time.After(time.Minute):
		t.Fatal("nothing came")
	}
	return v
}

// TestGone: a watch of records that the server has lost begins again with those that it has now, and forgets the others.
func TestGone(t *testing.T) {
	for name, way := range map[string]func(*testing.T, *served.Server){"new store": lose, "made anew": remake} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := served.Start(t, embedded.Config{})
			c := config
			c.Look = 5 * time.Millisecond
			q := open(t, s.Conn(), c)
			told := make(chan error, 100)
			states, err := q.Watch(t.Context(), func(err error) { told <- err })
			require.NoError(t, err)
			defer states.Stop()
			notes := make(chan string, 100)
			stop, err := q.Follow(t.Context(), jet.Follower{
				Note: func(_ string, value []byte) { notes <- string(value) },
			}, "c.*")
			require.NoError(t, err)
			defer stop()
			for range 20 {
				require.NoError(t, q.Note(t.Context(), "c.x", []byte("old"), 0))
				soon(t, notes)
			}
			state(t, q, "a", wire.Running)
			state(t, q, "a", wire.Done)
			ended, stopUntil := states.Until(t.Context(), "a")
			soon(t, ended.Done())
			stopUntil()

			way(t, s)
			require.ErrorContains(t, soon(t, told), "the server has lost records")
			require.Zero(t, states.Known("a").Revision)
			again, stopAgain := states.Until(t.Context(), "a")
			defer stopAgain()
			state(t, q, "a", wire.Running)
			require.NoError(t, again.Err())
			state(t, q, "a", wire.Cancelled)
			soon(t, again.Done())
			require.ErrorIs(t, context.Cause(again), protocol.ErrEnded)
			require.NoError(t, q.Note(t.Context(), "c.x", []byte("new"), 0))
			for soon(t, notes) != "new" {
			}
			require.Empty(t, told)
		})
	}
}

// TestGoneEarly: a watch finds that the records are gone also before it has looked for the first time, and when there
// are as many as before.
func TestGoneEarly(t *testing.T) {
	t.Parallel()
	s := served.Start(t, embedded.Config{})
	c := config
	c.Look = time.Second
	q := open(t, s.Conn(), c)
	told := make(chan error, 100)
	states, err := q.Watch(t.Context(), func(err error) { told <- err })
	require.NoError(t, err)
	defer states.Stop()
	remake(t, s)
	for range 5 {
		require.NoError(t, q.Note(t.Context(), "c.x", nil, 0))
	}
	require.ErrorContains(t, soon(t, told), "the server has lost records")
}

// TestObjectsGone: an object that the server has lost is written again, although it was written a short time ago.
func TestObjectsGone(t *testing.T) {
	t.Parallel()
	s := served.Start(t, embedded.Config{})
	q := open(t, s.Conn(), config)
	_, err := q.PutObject(t.Context(), []byte("value"))
	require.NoError(t, err)
	lose(t, s)
	require.Eventually(t, func() bool {
		hash, err := q.PutObject(t.Context(), []byte("value"))
		if err == nil {
			_, err = q.GetObject(t.Context(), hash)
		}
		return err == nil
	}, time.Minute, time.Millisecond)
}

// TestReading: a Reading is told of each change once, and of all records if the server has lost some.
func TestReading(t *testing.T) {
	t.Parallel()
	s := served.Start(t, embedded.Config{})
	q := open(t, s.Conn(), config)
	r := q.NewReading("r.*.state", "c.*")
	begun := 0
	next := func() map[string]string {
		t.Helper()
		found := map[string]string{}
		require.NoError(t, r.Next(t.Context(), func() { begun++ }, func(key string, n jet.Note) {
			require.False(t, n.Written.IsZero())
			found[key] = string(n.Value)
		}))
		return found
	}
	note := func(key, value string) {
		t.Helper()
		require.NoError(t, q.Note(t.Context(), key, []byte(value), 0))
	}
	require.Empty(t, next())
	note("c.x", "1")
	note("c.y", "1")
	note("w.z", "no")
	note("r.a.state", "1")
	require.Equal(t, map[string]string{"c.x": "1", "c.y": "1", "r.a.state": "1"}, next())
	require.Empty(t, next())
	note("c.y", "2")
	require.Equal(t, map[string]string{"c.y": "2"}, next())
	js, err := jetstream.New(s.Conn())
	require.NoError(t, err)
	kv, err := js.KeyValue(t.Context(), "magpie-q")
	require.NoError(t, err)
	require.NoError(t, kv.Purge(t.Context(), "c.y"))
	require.Equal(t, map[string]string{"c.y": ""}, next())
	require.Equal(t, 1, begun)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, r.Next(ended, func() { begun++ }, nil), context.Canceled)

	remake(t, s)
	note("c.x", "3")
	require.Equal(t, map[string]string{"c.x": "3"}, next())
	require.Equal(t, 2, begun)
	for range 10 {
		note("c.x", "4")
	}
	require.Equal(t, map[string]string{"c.x": "4"}, next())
	require.Equal(t, 2, begun)
}

// TestCount: the number of records comes without their keys, in a message whose size does not depend on it.
func TestCount(t *testing.T) {
	t.Parallel()
	nc := served.Start(t, embedded.Config{}).Conn()
	q := open(t, nc, config)
	count := func(want int) (bytes uint64) {
		t.Helper()
		before := nc.Stats().InBytes
		n, err := q.Count(t.Context(), protocol.OutputKeys("a"))
		require.NoError(t, err)
		require.Equal(t, want, n)
		return nc.Stats().InBytes - before
	}
	empty := count(0)
	require.NoError(t, jet.Each(1000, func(i int) error {
		return errors.Join(q.Create(t.Context(), protocol.OutputKey("a", i), []byte("{}")),
			q.Create(t.Context(), protocol.OutputKey("b", i), []byte("{}")))
	}))
	require.Less(t, count(1000), empty+200)
	js, err := jetstream.New(nc)
	require.NoError(t, err)
	require.NoError(t, js.DeleteStream(t.Context(), "KV_magpie-q"))
	_, err = q.Count(t.Context(), protocol.OutputKeys("a"))
	require.ErrorContains(t, err, "stream not found")
}
