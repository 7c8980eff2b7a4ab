package cluster_test

import (
	"context"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/require"

	"github.com/magpie-go/magpie/executor/cluster"
	"github.com/magpie-go/magpie/executor/cluster/embedded"
	"github.com/magpie-go/magpie/executor/cluster/internal/served"
)

// A protected is a server that asks for the password of the user "magpie".
type protected struct {
	*server.Server
	t    *testing.T
	opts server.Options
}

func startProtected(t *testing.T, password string) *protected {
	t.Helper()
	p := &protected{t: t, opts: server.Options{JetStream: true, Host: "127.0.0.1", AuthTimeout: patience.Seconds()}}
	p.opts.Users = []*server.User{{Username: "magpie", Password: password}}
	p.Server = served.Other(t, &p.opts)
	return p
}

// change starts the server again with another password. ReloadOptions would do it in the server that runs, but has a
// data race of its own with reads of streams.
func (p *protected) change(password string) {
	p.t.Helper()
	p.opts.Users = []*server.User{{Username: "magpie", Password: password}}
	p.Server = served.Again(p.t, p.Server, &p.opts)
}

// conn connects as one that reconnects for ever. A pipe would lose what the server says before it closes it.
func (p *protected) conn(password string) *nats.Conn {
	p.t.Helper()
	nc, err := nats.Connect(p.ClientURL(), nats.UserInfo("magpie", password), nats.Timeout(patience),
		nats.MaxReconnects(-1), nats.ReconnectWait(10*time.Millisecond))
	require.NoError(p.t, err)
	p.t.Cleanup(nc.Close)
	return nc
}

// hanging registers a function that runs until its context ends. It says in began that it runs.
func hanging() (reg *cluster.Registry, hang cluster.Func0[int], began chan struct{}) {
	reg, began = cluster.NewRegistry(), make(chan struct{}, 1)
	hang = cluster.Register0(reg, "hang", func(ctx context.Context) (int, error) {
		began <- struct{}{}
		<-ctx.Done()
		return 0, context.Cause(ctx)
	})
	return reg, hang, began
}

// next returns the next value of a channel.
func next[T any](t *testing.T, c <-chan T, what string) (v T) {
	t.Helper()
	select {
	case v = <-c:
	case <-within(t).Done():
		require.Fail(t, what)
	}
	return v
}

// TestRevoked: when a server refuses the password of a worker and of a client that it has taken before, Run, Wait,
// Watch and what else asks the server end with an error that says so. The run is there for others.
func TestRevoked(t *testing.T) {
	t.Parallel()
	s := startProtected(t, "old")
	reg, hang, began := hanging()
	w, err := cluster.NewWorker(within(t), s.conn("old"), newExecutor(t), reg, cluster.WorkerConfig{
		Queue: queue, Grace: time.Hour, Report: func(err error) { t.Log(err) }})
	require.NoError(t, err)
	ran := make(chan error, 1)
	go func() { ran <- w.Run(t.Context()) }()

	c := connect(t, s.conn("old"))
	g := cluster.NewGraph("g")
	hang.Call(g)
	h, err := c.Submit(within(t), g, cluster.Submission{ID: "run"})
	require.NoError(t, err)
	next(t, began, "the call has not begun")
	waited, watched := make(chan error, 1), make(chan error, 1)
	go func() { _, err := h.Wait(t.Context()); waited <- err }()
	go func() {
		var last error
		for _, err := range h.Watch(t.Context(), time.Millisecond) {
			last = err
		}
		watched <- last
	}()
	s.change("new")

	ended := map[string]error{
		"Run":   next(t, ran, "Run has not returned"),
		"Wait":  next(t, waited, "Wait has not returned"),
		"Watch": next(t, watched, "Watch has not ended"),
	}
	_, ended["Submit"] = c.Submit(within(t), g, cluster.Submission{})
	_, ended["Runs"] = c.Runs(within(t))
	_, ended["Workers"] = c.Workers(within(t))
	_, ended["Backlog"] = c.Backlog(within(t))
	_, ended["Attach"] = c.Attach(within(t), "run")
	_, ended["Progress"] = h.Progress(within(t))
	_, ended["Resume"] = h.Resume(within(t))
	ended["Cancel"] = h.Cancel(within(t), nil)
	for name, err := range ended {
		require.ErrorIs(t, err, nats.ErrConnectionClosed, name)
		require.ErrorContains(t, err, "the server refuses its credentials", name)
		require.ErrorContains(t, err, "connect with others, and begin anew with that connection", name)
	}

	h, err = connect(t, s.conn("new")).Attach(within(t), "run")
	require.NoError(t, err)
	require.NoError(t, h.Cancel(within(t), nil))
}

// TestClosedByOwner: a worker whose connection is closed ends its calls and returns. The error says who may have closed
// it.
func TestClosedByOwner(t *testing.T) {
	t.Parallel()
	s := served.Start(t, embedded.Config{})
	reg, hang, began := hanging()
	nc := s.Conn()
	w, err := cluster.NewWorker(within(t), nc, newExecutor(t), reg, cluster.WorkerConfig{Queue: queue, Grace: time.Hour})
	require.NoError(t, err)
	ran := make(chan error, 1)
	go func() { ran <- w.Run(t.Context()) }()
	g := cluster.NewGraph("g")
	hang.Call(g)
	_, err = connect(t, s.Conn()).Submit(within(t), g, cluster.Submission{})
	require.NoError(t, err)
	next(t, began, "the call has not begun")
	nc.Close()
	err = next(t, ran, "Run has not returned")
	require.ErrorIs(t, err, nats.ErrConnectionClosed)
	require.ErrorContains(t, err, "the program has closed it")
	require.Empty(t, w.Running())
}

// TestGivenUp: a connection that may not reconnect for ever is closed when its server stays away, and the error says
// which option is for that.
func TestGivenUp(t *testing.T) {
	t.Parallel()
	s := served.Start(t, embedded.Config{})
	reg, _, _ := hanging()
	w, err := cluster.NewWorker(within(t), s.Conn(nats.MaxReconnects(1)), newExecutor(t), reg,
		cluster.WorkerConfig{Queue: queue})
	require.NoError(t, err)
	ran := make(chan error, 1)
	go func() { ran <- w.Run(t.Context()) }()
	announced(t, connect(t, s.Conn()), 1)
	s.Stop()
	err = next(t, ran, "Run has not returned")
	require.ErrorIs(t, err, nats.ErrConnectionClosed)
	require.ErrorContains(t, err, "connect with nats.MaxReconnects(-1)")
}

// TestPatientAtClosed: a client that waits for a worker ends with its connection.
func TestPatientAtClosed(t *testing.T) {
	t.Parallel()
	s := served.Start(t, embedded.Config{})
	_, hang, _ := hanging()
	nc := s.Conn()
	c := connect(t, nc)
	g := cluster.NewGraph("g")
	hang.Call(g)
	submitted := make(chan error, 1)
	go func() { _, err := c.Submit(t.Context(), g, cluster.Submission{}); submitted <- err }()
	nc.Close()
	require.ErrorIs(t, next(t, submitted, "Submit has not returned"), nats.ErrConnectionClosed)
}
