package cluster_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"github.com/magpie-go/magpie/executor/cluster"
	"github.com/magpie-go/magpie/executor/cluster/embedded"
	"github.com/magpie-go/magpie/executor/cluster/internal/served"
)

// TestCleanUp: some time after the end of a run its messages, records and objects are gone, and the queue is as empty
// as before.
func TestCleanUp(t *testing.T) {
	t.Parallel()
	nc := served.Start(t, embedded.Config{}).Conn()
	short := cluster.Queue{Name: "short", Keep: 10 * time.Second, Lease: time.Minute} // the least
	reg := cluster.NewRegistry()
	large := cluster.Register(reg, "large", func(_ context.Context, n int) ([]byte, error) {
		return make([]byte, 1<<20+n), nil // more than a record may have
	})
	size := cluster.RegisterAll(reg, "size", func(_ context.Context, all [][]byte) (n int, err error) {
		for _, v := range all {
			n += len(v)
		}
		return n, nil
	})
	stop := work(t, nc, newExecutor(t), reg, cluster.WorkerConfig{Queue: short})
	c, err := cluster.NewClient(within(t), nc, cluster.ClientConfig{
		Queue: short, Patient: true, Target: cluster.DefaultTarget})
	require.NoError(t, err)
	g := cluster.NewGraph("g")
	var all []cluster.Arg[[]byte]
	for i := range 3 {
		all = append(all, large.Call(g, cluster.Value(i)).Cost(cluster.DefaultTarget))
	}
	sum := size.Call(g, all...).Cost(cluster.DefaultTarget)

	limit, cancel := context.WithTimeout(t.Context(), 10*patience)
	defer cancel()
	// On a busy machine a run may take longer than its records are kept, and so may a look at them.
	for found := false; !found; {
		h, err := c.Submit(within(t), g, cluster.Submission{})
		require.NoError(t, err)
		res, err := h.Wait(within(t))
		var ended *cluster.RunError
		gone := errors.As(err, &ended) && (ended.Reason == cluster.Gone || ended.Reason == cluster.Lost)
		if gone && limit.Err() == nil {
			continue
		}
		require.NoError(t, err)
		got, err := sum.Result(res)
		require.NoError(t, err)
		require.Equal(t, 3<<20+3, got)
		work, records, objects, err := left(within(t), nc, short.Name)
		require.NoError(t, err)
		found = records+objects > 0
		require.True(t, found || limit.Err() == nil, "the work stream has %d messages", work)
	}

	c.Close()
	stop()
	require.Eventually(t, func() bool {
		work, records, objects, err := left(within(t), nc, short.Name)
		return err == nil && work+records+objects == 0
	}, patience, 200*time.Millisecond, "the queue is not empty")
}

// left returns how many messages the streams of a queue have, of those that are removed with age.
func left(ctx context.Context, nc *nats.Conn, queue string) (work, records, objects uint64, err error) {
	js, err := jetstream.New(nc)
	if err != nil {
		return 0, 0, 0, err
	}
	for name, n := range map[string]*uint64{
		"magpie-work-" + queue: &work, "KV_magpie-" + queue: &records, "magpie-objects-" + queue: &objects,
	} {
		st, err := js.Stream(ctx, name)
		if err != nil {
			return 0, 0, 0, fmt.Errorf("stream %s: %w", name, err)
		}
		*n = st.CachedInfo().State.Msgs
	}
	return work, records, objects, nil
}
