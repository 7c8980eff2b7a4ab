package cluster_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/magpie-go/magpie/executor/cluster"
	"github.com/magpie-go/magpie/executor/cluster/embedded"
	"github.com/magpie-go/magpie/executor/cluster/internal/protocol"
	"github.com/magpie-go/magpie/executor/cluster/internal/served"
	"github.com/magpie-go/magpie/executor/cluster/internal/wire"
)

// TestStats: a worker and a client count what they do.
func TestStats(t *testing.T) {
	s := served.Start(t, embedded.Config{})
	f := newFunctions()
	blocks, begun := make(chan struct{}), make(chan struct{}, 1)
	block := cluster.Register(f.reg, "block", func(ctx context.Context, n int) (int, error) {
		begun <- struct{}{}
		select {
		case <-blocks:
		case <-ctx.Done():
		}
		return n, context.Cause(ctx)
	})
	c, err := cluster.NewClient(within(t), s.Conn(), cluster.ClientConfig{
		Queue: queue, Patient: true, Executor: newExecutor(t), Registry: f.reg, Target: time.Hour})
	require.NoError(t, err)
	defer c.Close()
	w, stop := newWorker(t, s.Conn(), newExecutor(t), f.reg, cluster.WorkerConfig{Slots: 3})
	require.Equal(t, 3, w.Stats().Slots)
	run := func(add func(g *cluster.Graph)) (*cluster.Handle, error) {
		g := cluster.NewGraph("g")
		add(g)
		h, err := c.Submit(within(t), g, cluster.Submission{})
		require.NoError(t, err)
		_, err = h.Wait(within(t))
		return h, err
	}

	h, err := run(func(g *cluster.Graph) { f.double.Call(g, f.one.Call(g).Cost(2*time.Hour)).Cost(2 * time.Hour) })
	require.NoError(t, err)
	_, err = h.Wait(within(t)) // counts once
	require.NoError(t, err)
	_, err = run(func(g *cluster.Graph) { f.fail.Call(g, cluster.Value(1)) })
	require.Error(t, err)
	g := cluster.NewGraph("local")
	f.one.Call(g)
	_, err = c.Run(within(t), g)
	require.NoError(t, err)
	_, err = c.Submit(within(t), g, cluster.Submission{ID: "no token"})
	require.Error(t, err)
	n := c.Stats()
	require.EqualValues(t, 1, n.Local)
	require.EqualValues(t, 2, n.Submitted)
	require.EqualValues(t, 1, n.Refused)
	require.EqualValues(t, 1, n.Done)
	require.EqualValues(t, 1, n.Failed)
	require.EqualValues(t, 2, n.Submit.Count())
	require.EqualValues(t, 2, n.Run.Count())

	g = cluster.NewGraph("blocks")
	block.Call(g, cluster.Value(1))
	h, err = c.Submit(within(t), g, cluster.Submission{})
	require.NoError(t, err)
	<-begun
	m := w.Stats()
	require.Equal(t, 1, m.Running)
	require.GreaterOrEqual(t, m.Busy, 1)
	require.NoError(t, h.Cancel(within(t), nil))
	require.Eventually(t, func() bool { return w.Stats().Stopped == 1 }, patience, time.Millisecond)

	// What comes again, and what is given up.
	class := partClass(t, s)
	require.NoError(t, s.Conn().Publish("magpie.q.work."+class, []byte("hello")))
	require.Eventually(t, func() bool { return w.Stats().Buried == 1 }, patience, time.Millisecond)
	stop()
	m = w.Stats()
	require.Zero(t, m.Busy+m.Running)
	require.EqualValues(t, 4, m.Started)
	require.EqualValues(t, 2, m.Done)
	require.EqualValues(t, 1, m.Failed)
	require.EqualValues(t, 1, m.Stopped)
	require.EqualValues(t, 8, m.Messages, "of three starts, four partitions and one that is none")
	require.Zero(t, m.Redelivered+m.Twice+m.LostLeases)
	require.EqualValues(t, m.Done, m.Run.Count())
	require.EqualValues(t, m.Messages, m.Wait.Count())
	require.GreaterOrEqual(t, m.Write.Count(), m.Done)
}

// partClass returns the class of what was submitted last.
func partClass(t *testing.T, s *served.Server) string {
	t.Helper()
	js, err := s.Conn().JetStream()
	require.NoError(t, err)
	kv, err := js.KeyValue("magpie-q")
	require.NoError(t, err)
	keys, err := kv.Keys()
	require.NoError(t, err)
	class := ""
	for _, key := range keys {
		if len(key) > 2 && key[:2] == "c." {
			class = key[2:]
		}
	}
	require.NotEmpty(t, class)
	return class
}

// TestStatsOfTwice: a partition whose message is there twice has its output from one of the two workers that run it,
// and the other counts that.
func TestStatsOfTwice(t *testing.T) {
	s := served.Start(t, embedded.Config{})
	f := newFunctions()
	var both sync.WaitGroup
	both.Add(2)
	c := cluster.WorkerConfig{Slots: 1}.Between(
		func(s protocol.Store) protocol.Store { return doubling{s, &both} }, nil)
	a, stopA := newWorker(t, s.Conn(), newExecutor(t), f.reg, c)
	b, stopB := newWorker(t, s.Conn(), newExecutor(t), f.reg, c)
	g := cluster.NewGraph("g")
	f.one.Call(g)
	h, err := connect(t, s.Conn()).Submit(within(t), g, cluster.Submission{})
	require.NoError(t, err)
	_, err = h.Wait(within(t))
	require.NoError(t, err)
	stopA()
	stopB()
	require.EqualValues(t, 2, a.Stats().Done+b.Stats().Done)
	require.EqualValues(t, 1, a.Stats().Twice+b.Stats().Twice)
}

// A doubling publishes each message of a partition twice, and two of them write outputs at the same time.
type doubling struct {
	protocol.Store
	both *sync.WaitGroup
}

func (d doubling) Publish(ctx context.Context, posts ...protocol.Post) error {
	var all []protocol.Post
	for _, p := range posts {
		p.ID = ""
		if all = append(all, p); p.Message.Kind == wire.Part {
			all = append(all, p)
		}
	}
	return d.Store.Publish(ctx, all...)
}

func (d doubling) Create(ctx context.Context, key string, value []byte) error {
	if !protocol.Changes(key) {
		d.both.Done()
		d.both.Wait()
	}
	return d.Store.Create(ctx, key, value)
}
