package cluster_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/require"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/cluster"
	"github.com/magpie-go/magpie/executor/cluster/embedded"
	"github.com/magpie-go/magpie/executor/cluster/internal/served"
)

// queue is one whose leases do not end while a busy machine runs a test.
var queue = cluster.Queue{Name: "q", Keep: time.Hour, Lease: time.Minute}

// patience is how long a test waits for what must come.
const patience = 2 * time.Minute

// within returns a context for one step of a test.
func within(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return ctx
}

// work starts a worker, and stops it with the test or when stop is called.
func work(t testing.TB, nc *nats.Conn, ex *executor.Executor, reg *cluster.Registry, c cluster.WorkerConfig) (
	stop func()) {
	t.Helper()
	_, stop = newWorker(t, nc, ex, reg, c)
	return stop
}

// newWorker is work, and returns the worker too.
func newWorker(t testing.TB, nc *nats.Conn, ex *executor.Executor, reg *cluster.Registry, c cluster.WorkerConfig) (
	w *cluster.Worker, stop func()) {
	t.Helper()
	if c.Queue.Name == "" {
		c.Queue = queue
	}
	if c.Report == nil {
		c.Report = func(err error) { t.Log(err) }
	}
	w, err := cluster.NewWorker(within(t), nc, ex, reg, c)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- w.Run(ctx) }()
	stopped := false
	stop = func() {
		if !stopped {
			stopped = true
			cancel()
			// Run says so if it was stopped before it could begin: what a test has done may have needed no worker.
			if err := <-ended; w.Stats().Messages > 0 || !errors.Is(err, context.Canceled) {
				require.NoError(t, err)
			}
		}
	}
	t.Cleanup(stop)
	return w, stop
}

// connect returns a client that waits for workers, and whose partitions do not depend on how fast the machine is.
func connect(t testing.TB, nc *nats.Conn) *cluster.Client {
	t.Helper()
	c, err := cluster.NewClient(within(t), nc, cluster.ClientConfig{
		Queue: queue, Patient: true, Target: cluster.DefaultTarget})
	require.NoError(t, err)
	t.Cleanup(c.Close)
	return c
}

// TestSubmit: a graph that is cut into many partitions has the results of a local run.
func TestSubmit(t *testing.T) {
	s := served.Start(t, embedded.Config{})
	f, ex := newFunctions(), newExecutor(t)
	work(t, s.Conn(), ex, f.reg, cluster.WorkerConfig{Name: "w1"})
	work(t, s.Conn(), ex, f.reg, cluster.WorkerConfig{Name: "w2"})

	g := cluster.NewGraph("g")
	var layer []cluster.Arg[int]
	for i := range 20 {
		a := f.double.Call(g, cluster.Value(i)).Cost(cluster.DefaultTarget)
		layer = append(layer, f.add.Call(g, a, f.one.Call(g)).Cost(cluster.DefaultTarget))
	}
	sum := f.sum.Call(g, layer...)
	text := f.text.Call(g, sum).Cost(cluster.DefaultTarget)

	c := connect(t, s.Conn())
	run, err := c.Submit(within(t), g, cluster.Submission{})
	require.NoError(t, err)
	res, err := run.Wait(within(t))
	require.NoError(t, err)
	got, err := text.Result(res)
	require.NoError(t, err)
	require.Equal(t, "400", got)

	p, err := run.Progress(within(t))
	require.NoError(t, err)
	require.True(t, p.Ended)
	require.Greater(t, p.Parts, 20)
	require.Equal(t, p.Parts, p.Done)
}
