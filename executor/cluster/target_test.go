package cluster_test

import (
	"context"
	"net"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/require"

	"github.com/magpie-go/magpie/executor/cluster"
	"github.com/magpie-go/magpie/executor/cluster/embedded"
	"github.com/magpie-go/magpie/executor/cluster/internal/served"
)

// A slow is a server that is far away.
type slow struct{ *served.Server }

func (s slow) InProcessConn() (net.Conn, error) {
	c, err := s.Server.InProcessConn()
	return slowConn{c}, err
}

type slowConn struct{ net.Conn }

const away = 5 * time.Millisecond

func (c slowConn) Write(data []byte) (int, error) {
	time.Sleep(away)
	return c.Conn.Write(data)
}

// TestTarget: what a partition should cost is many times the way of a message, unless the configuration says it.
func TestTarget(t *testing.T) {
	s := served.Start(t, embedded.Config{})
	f := newFunctions()
	work(t, s.Conn(), newExecutor(t), f.reg, cluster.WorkerConfig{})
	run := func(nc *nats.Conn, c cluster.ClientConfig) time.Duration {
		c.Queue, c.Patient = queue, true
		client, err := cluster.NewClient(within(t), nc, c)
		require.NoError(t, err)
		defer client.Close()
		require.Equal(t, c.Target, client.Stats().Target, "before the first graph")
		g := cluster.NewGraph("g")
		f.one.Call(g)
		for range 2 { // it is measured once
			_, err = client.Run(within(t), g)
			require.NoError(t, err)
		}
		return client.Stats().Target
	}
	near := run(s.Conn(), cluster.ClientConfig{})
	require.GreaterOrEqual(t, near, cluster.DefaultTarget)
	require.Equal(t, time.Second, run(s.Conn(), cluster.ClientConfig{Target: time.Second}))
	require.GreaterOrEqual(t, run(s.Conn(nats.InProcessServer(slow{s})), cluster.ClientConfig{}), 40*away)
}

// TestSmallWithoutServer: a graph of at most DefaultTarget, or Target, runs in this process, whether the server answers
// or not. A larger one needs the server.
func TestSmallWithoutServer(t *testing.T) {
	s := served.Start(t, embedded.Config{})
	f, ex := newFunctions(), newExecutor(t)
	client := func(target time.Duration) *cluster.Client {
		c, err := cluster.NewClient(within(t), s.Conn(), cluster.ClientConfig{
			Queue: queue, Executor: ex, Registry: f.reg, Target: target})
		require.NoError(t, err)
		t.Cleanup(c.Close)
		return c
	}
	byDefault, said := client(0), client(time.Second)
	s.Stop()
	graph := func(cost time.Duration) (*cluster.Graph, cluster.Call[int]) {
		g := cluster.NewGraph("g")
		return g, f.one.Call(g).Cost(cost)
	}
	runs := func(c *cluster.Client, cost time.Duration) {
		t.Helper()
		g, one := graph(cost)
		res, err := c.Run(within(t), g)
		require.NoError(t, err)
		want(t, res, one, 1)
	}
	refuses := func(c *cluster.Client, cost time.Duration) {
		t.Helper()
		g, _ := graph(cost)
		short, cancel := context.WithTimeout(t.Context(), time.Second) // nobody answers
		defer cancel()
		_, err := c.Run(short, g)
		require.ErrorContains(t, err, `graph "g" was not submitted`)
	}
	runs(byDefault, cluster.DefaultCost)
	runs(byDefault, cluster.DefaultTarget)
	runs(said, time.Second)
	refuses(byDefault, cluster.DefaultTarget+1)
	refuses(said, time.Second+1)
}
