package cluster_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

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

// TestNamesake: workers of one name are told of each other, once, and go on. One that begins with the name of another
// that was killed meets nobody.
func TestNamesake(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	begin := func() (said chan error, stop func()) {
		said = make(chan error, 100)
		_, stop = newWorker(t, s.server.Conn(), s.ex, s.Registry, cluster.WorkerConfig{
			Name: "miller", Report: func(err error) {
				if t.Log(err); strings.Contains(err.Error(), "another worker of the queue has this name") {
					said <- err
				}
			},
		})
		return said, stop
	}
	killed := s.server.Conn()
	w, err := cluster.NewWorker(within(t), killed, s.ex, s.Registry, cluster.WorkerConfig{Queue: queue, Name: "miller"})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- w.Run(ctx) }()
	announced(t, s.client, 1)
	killed.Close()

	first, stopFirst := begin()
	r := s.Random(1, clustertest.Options{})
	s.equal(r, s.submit(r), "alone")
	require.Empty(t, first)
	second, stopSecond := begin()
	for _, said := range []chan error{first, second} {
		select {
		case err := <-said:
			require.ErrorContains(t, err, "cluster: worker miller: another worker")
		case <-time.After(patience):
			require.Fail(t, "no worker has told of the other")
		}
	}
	s.equal(r, s.submit(r), "both")
	stopSecond()
	stopFirst()
	require.Empty(t, first)
	require.Empty(t, second)
	cancel()
	<-ended
}
