package cluster_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/magpie-go/magpie/executor/cluster"
	"github.com/magpie-go/magpie/executor/cluster/embedded"
	"github.com/magpie-go/magpie/executor/cluster/internal/protocol"
	"github.com/magpie-go/magpie/executor/cluster/internal/served"
)

// A doubtful has no answer to a Publish, which has its effect or not.
type doubtful struct {
	protocol.Store
	effect bool
	answer func() error
}

func (d *doubtful) Publish(ctx context.Context, posts ...protocol.Post) error {
	if d.effect {
		if err := d.Store.Publish(ctx, posts...); err != nil {
			return err
		}
	}
	return d.answer()
}

// TestRunInDoubt: a graph of which Run does not know whether the queue has it, because its context has ended or the
// server has not answered, does not run on while nobody waits for it.
func TestRunInDoubt(t *testing.T) {
	s := served.Start(t, embedded.Config{})
	f := newFunctions()
	gate := newGate(f.reg)
	work(t, s.Conn(), newExecutor(t), f.reg, cluster.WorkerConfig{})
	errSilence := errors.New("no answer")
	for n, effect := range []bool{false, true} {
		for _, ends := range []bool{false, true} {
			ctx, cancel := context.WithCancelCause(t.Context())
			answer := func() error {
				if ends {
					cancel(errBoom)
				}
				return errSilence
			}
			c, err := cluster.NewClient(within(t), s.Conn(), cluster.ClientConfig{Queue: queue, Patient: true}.Between(
				func(s protocol.Store) protocol.Store { return &doubtful{s, effect, answer} }))
			require.NoError(t, err)
			g := cluster.NewGraph("g")
			gate.fn.Call(g, cluster.Value(n))
			_, err = c.Run(ctx, g)
			require.ErrorIs(t, err, errSilence)
			require.ErrorContains(t, err, `graph "g" may not have been submitted`)
			cancel(nil)
			c.Close()
		}
	}
	c := connect(t, s.Conn())
	runs, err := c.Runs(within(t))
	require.NoError(t, err)
	require.Len(t, runs, 4)
	for _, r := range runs {
		require.Equal(t, cluster.Cancelled, r.Reason)
	}
}
