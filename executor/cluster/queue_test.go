package cluster_test

import (
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"github.com/magpie-go/magpie/executor/cluster"
	"github.com/magpie-go/magpie/executor/cluster/embedded"
	"github.com/magpie-go/magpie/executor/cluster/internal/served"
)

// TestOtherQueue: whoever opens a queue with other values than its first user is told once which hold, and how to
// change them. Values that are zero, or the same, are not told of. The way to change them works.
func TestOtherQueue(t *testing.T) {
	t.Parallel()
	nc := served.Start(t, embedded.Config{}).Conn()
	open := func(q cluster.Queue) (told []string) {
		t.Helper()
		c, err := cluster.NewClient(within(t), nc, cluster.ClientConfig{
			Queue: q, Report: func(err error) { told = append(told, err.Error()) }})
		require.NoError(t, err)
		c.Close()
		return told
	}
	require.Empty(t, open(cluster.Queue{Name: "q", Keep: time.Hour}), "the first")
	require.Empty(t, open(cluster.Queue{Name: "q"}), "zero")
	require.Empty(t, open(cluster.Queue{Name: "q", Replicas: 1, Keep: time.Hour, Lease: 30 * time.Second}), "the same")
	told := open(cluster.Queue{Name: "q", Replicas: 3, Keep: time.Hour})
	require.Len(t, told, 1)
	require.Contains(t, told[0], "cluster: queue q: Replicas is 1, and 3 was asked for: its first user")
	other := cluster.Queue{Name: "q", Keep: time.Minute, Lease: time.Second}
	told = open(other)
	require.Len(t, told, 1)
	require.Contains(t, told[0], "queue q: Keep is 1h0m0s, and 1m0s was asked for; Lease is 30s, and 1s was asked for: ")

	told = nil
	w, err := cluster.NewWorker(within(t), nc, newExecutor(t), cluster.NewRegistry(), cluster.WorkerConfig{
		Name: "w", Queue: other, Report: func(err error) { told = append(told, err.Error()) }})
	require.NoError(t, err)
	w.Close()
	require.Len(t, told, 1)
	require.Contains(t, told[0], "cluster: worker w: queue q: Keep is 1h0m0s")

	js, err := jetstream.New(nc)
	require.NoError(t, err)
	for _, name := range []string{"magpie-work-q", "KV_magpie-q", "magpie-objects-q", "magpie-dead-q"} {
		require.Contains(t, told[0], name)
		require.NoError(t, js.DeleteStream(within(t), name))
	}
	require.Empty(t, open(other))
	require.Len(t, open(cluster.Queue{Name: "q", Keep: time.Hour}), 1)
}
