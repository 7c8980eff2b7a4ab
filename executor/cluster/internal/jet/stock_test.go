package jet_test

import (
	"os"
	"path/filepath"
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

// post publishes a message of a class.
func post(t *testing.T, q *jet.Queue, class string) {
	t.Helper()
	m := wire.Message{V: 1, Kind: wire.Part, Run: "a", Part: 1, Plan: "p"}
	require.NoError(t, q.Publish(t.Context(), protocol.Post{Class: class, Message: m}))
}

// take opens a class, and returns its next message.
func take(t *testing.T, q *jet.Queue, class string) (got *jet.Delivery) {
	t.Helper()
	c := q.Class(class)
	require.NoError(t, c.Open(t.Context()))
	for got == nil {
		require.NoError(t, c.Next(t.Context(), time.Minute, func(d *jet.Delivery) { got = d }))
	}
	return got
}

// holds checks what a queue holds.
func holds(t *testing.T, q *jet.Queue, want jet.Backlog) {
	t.Helper()
	require.Eventually(t, func() bool {
		b, err := q.Backlog(t.Context())
		return err == nil && b == want
	}, time.Minute, time.Millisecond)
	for range 3 {
		empty, err := q.IsEmpty(t.Context())
		require.NoError(t, err)
		require.Equal(t, want.Waiting+want.Leased == 0, empty)
	}
}

// TestBacklog: messages wait whether their class was ever served or not, and are leased until they are acknowledged.
func TestBacklog(t *testing.T) {
	t.Parallel()
	q := open(t, served.Start(t, embedded.Config{}).Conn(), config)
	holds(t, q, jet.Backlog{})
	post(t, q, "c")
	post(t, q, "unserved")
	holds(t, q, jet.Backlog{Waiting: 2})
	d := take(t, q, "c")
	holds(t, q, jet.Backlog{Waiting: 1, Leased: 1})
	require.NoError(t, d.Nak(t.Context(), time.Hour))
	holds(t, q, jet.Backlog{Waiting: 1, Leased: 1})
	require.NoError(t, take(t, q, "unserved").Ack(t.Context()))
	holds(t, q, jet.Backlog{Leased: 1})
	require.NoError(t, q.Bury(t.Context(), protocol.Letter{Why: "why"}))
	holds(t, q, jet.Backlog{Leased: 1, Dead: 1})
}

// TestLeftOver: a message that a server has noted as acknowledged, but was killed before it removed it, neither waits
// nor hides that a queue is empty.
func TestLeftOver(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := served.Start(t, embedded.Config{Dir: dir})
	q := open(t, s.Conn(), config)
	post(t, q, "c")
	s.Stop()
	blocks, err := filepath.Glob(filepath.Join(dir, "jetstream", "*", "streams", "magpie-work-q", "msgs"))
	require.NoError(t, err)
	require.Len(t, blocks, 1)
	before := filepath.Join(t.TempDir(), "msgs")
	require.NoError(t, os.CopyFS(before, os.DirFS(blocks[0])))
	s.Again()
	q = open(t, s.Conn(), config)
	require.NoError(t, take(t, q, "c").Ack(t.Context()))
	holds(t, q, jet.Backlog{})
	s.Stop()
	require.NoError(t, os.RemoveAll(blocks[0]))
	require.NoError(t, os.CopyFS(blocks[0], os.DirFS(before)))
	s.Again()

	nc := s.Conn()
	q = open(t, nc, config)
	js, err := jetstream.New(nc)
	require.NoError(t, err)
	work, err := js.Stream(t.Context(), "magpie-work-q")
	require.NoError(t, err)
	require.EqualValues(t, 1, work.CachedInfo().State.Msgs, "the message that was acknowledged")
	empty, err := q.IsEmpty(t.Context())
	require.NoError(t, err)
	require.False(t, empty, "a queue in use is not looked at closely")
	b, err := q.Backlog(t.Context())
	require.NoError(t, err)
	require.Zero(t, b)
	empty, err = q.IsEmpty(t.Context())
	require.NoError(t, err)
	require.True(t, empty)
	post(t, q, "c")
	holds(t, q, jet.Backlog{Waiting: 1})
}

// TestRemade: a queue whose streams the server has lost is made again by the first that writes to it, as it was.
func TestRemade(t *testing.T) {
	t.Parallel()
	s := served.Start(t, embedded.Config{})
	nc := s.Conn()
	first := config
	first.Lease = 17 * time.Second
	open(t, nc, first)
	q := open(t, nc, config) // finds the lease of the first
	js, err := jetstream.New(nc)
	require.NoError(t, err)
	s.Lose()
	require.Eventually(t, func() bool { return q.Note(t.Context(), "c.x", nil, 0) == nil }, time.Minute, time.Millisecond)
	work, err := js.Stream(t.Context(), "magpie-work-q")
	require.NoError(t, err)
	require.Equal(t, "17s", work.CachedInfo().Config.Metadata["magpie-lease"])
	post(t, q, "c")
	require.NoError(t, take(t, q, "c").Ack(t.Context()))
	require.NoError(t, q.Bury(t.Context(), protocol.Letter{Why: "why"}))
	hash, err := q.PutObject(t.Context(), []byte("value"))
	require.NoError(t, err)
	_, err = q.GetObject(t.Context(), hash)
	require.NoError(t, err)
}
