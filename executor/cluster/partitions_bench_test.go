package cluster_test

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/require"

	"github.com/magpie-go/magpie/executor/cluster"
	"github.com/magpie-go/magpie/executor/cluster/embedded"
	"github.com/magpie-go/magpie/executor/cluster/internal/protocol"
)

// counted counts the calls of a Store.
type counted struct {
	protocol.Store
	gets, creates, updates, posts atomic.Int64
	publishes                     atomic.Int64 // each of one post or more, at the same time
}

// trips returns how many round trips the calls were, beside objects and dead letters. A worker has most plans in its
// cache.
func (c *counted) trips() int64 {
	return c.gets.Load() + c.creates.Load() + c.updates.Load() + c.publishes.Load()
}

func (c *counted) Get(ctx context.Context, keys ...string) ([]protocol.Record, error) {
	c.gets.Add(1)
	return c.Store.Get(ctx, keys...)
}

func (c *counted) Create(ctx context.Context, key string, value []byte) error {
	c.creates.Add(1)
	return c.Store.Create(ctx, key, value)
}

func (c *counted) Update(ctx context.Context, key string, value []byte, revision uint64) error {
	c.updates.Add(1)
	return c.Store.Update(ctx, key, value, revision)
}

func (c *counted) Publish(ctx context.Context, posts ...protocol.Post) error {
	c.posts.Add(int64(len(posts)))
	c.publishes.Add(1)
	return c.Store.Publish(ctx, posts...)
}

// BenchmarkPartitions runs chains of partitions that do nothing, on one server and one worker in this process. An
// operation is one partition. The calls are those of the Store.
func BenchmarkPartitions(b *testing.B) {
	for name, c := range map[string]embedded.Config{"inside": {}, "tcp": {Listen: "127.0.0.1:0"}} {
		b.Run(name, func(b *testing.B) {
			c.Dir = b.TempDir()
			s, err := embedded.Start(b.Context(), c)
			require.NoError(b, err)
			defer s.Close()
			conn := func() *nats.Conn {
				if s.URL() == "" {
					nc, err := s.Connect()
					require.NoError(b, err)
					return nc
				}
				nc, err := nats.Connect(s.URL())
				require.NoError(b, err)
				return nc
			}
			count := &counted{}
			between := func(s protocol.Store) protocol.Store { count.Store = s; return count }
			f, ex := newFunctions(), newExecutor(b)
			nc := conn()
			defer nc.Close()
			stop := work(b, nc, ex, f.reg, cluster.WorkerConfig{Slots: 64}.Between(between, nil))
			defer stop()

			const chains = 64
			g := cluster.NewGraph("chains")
			var ends [chains]cluster.Call[int]
			for i := range chains {
				ends[i] = f.one.Call(g).Cost(cluster.DefaultTarget)
			}
			for g.Len() < b.N {
				for i := range chains {
					ends[i] = f.double.Call(g, ends[i]).Cost(cluster.DefaultTarget)
				}
			}
			for n := chains / 2; n > 0; n /= 2 { // one end, at which not all arrive at the same time
				for i := range n {
					ends[i] = f.add.Call(g, ends[i], ends[i+n]).Cost(cluster.DefaultTarget)
				}
			}
			own := conn()
			defer own.Close()
			client := connect(b, own)
			b.ResetTimer()
			h, err := client.Submit(b.Context(), g, cluster.Submission{})
			require.NoError(b, err)
			_, err = h.Wait(b.Context())
			require.NoError(b, err)
			b.StopTimer()
			per := func(n *atomic.Int64, unit string) { b.ReportMetric(float64(n.Load())/float64(g.Len()), unit) }
			b.ReportMetric(float64(g.Len())/b.Elapsed().Seconds(), "partitions/s")
			per(&count.gets, "gets/op")
			per(&count.creates, "creates/op")
			per(&count.updates, "updates/op")
			per(&count.posts, "posts/op")
		})
	}
}
