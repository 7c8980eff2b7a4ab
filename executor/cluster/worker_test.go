package cluster_test

import (
	"context"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/magpie-go/magpie/executor/cluster"
	"github.com/magpie-go/magpie/executor/cluster/internal/clustertest"
)

// TestCloseWorker: Close gives back what a worker holds that was never run. Beside Run and after it, it does nothing.
func TestCloseWorker(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	nc := s.server.Conn()
	made := func() *cluster.Worker {
		w, err := cluster.NewWorker(within(t), nc, s.ex, newFunctions().reg, cluster.WorkerConfig{Queue: queue})
		require.NoError(t, err)
		return w
	}
	made().Close() // and nc has the subscription for its answers
	own := nc.NumSubscriptions()
	w := made()
	require.Greater(t, nc.NumSubscriptions(), own)
	w.Close()
	w.Close()
	require.Equal(t, own, nc.NumSubscriptions())
	require.ErrorContains(t, w.Run(t.Context()), "it is closed")

	w, stop := newWorker(t, s.server.Conn(), s.ex, s.Registry, cluster.WorkerConfig{})
	r := s.Random(1, clustertest.Options{})
	s.equal(r, s.submit(r), "before")
	w.Close()
	s.equal(r, s.submit(r), "beside Run")
	stop()
	w.Close()

	for range 20 {
		w := made()
		ctx, cancel := context.WithCancel(t.Context())
		var both sync.WaitGroup
		both.Go(func() { _ = w.Run(ctx) }) // whichever is first
		both.Go(w.Close)
		cancel()
		both.Wait()
	}
	require.Equal(t, own, nc.NumSubscriptions())
}
