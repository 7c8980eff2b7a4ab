package cluster_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/magpie-go/magpie/executor/cluster"
	"github.com/magpie-go/magpie/executor/cluster/embedded"
	"github.com/magpie-go/magpie/executor/cluster/internal/protocol"
	"github.com/magpie-go/magpie/executor/cluster/internal/served"
	"github.com/magpie-go/magpie/internal/testkit"
)

// TestRoundTrips: a partition of a chain costs three round trips. Each predecessor of a join costs two more, to mark
// itself. All but the last of them cost one less, since they publish nothing.
func TestRoundTrips(t *testing.T) {
	s := served.Start(t, embedded.Config{})
	f, count := newFunctions(), &counted{}
	between := func(s protocol.Store) protocol.Store { count.Store = s; return count }
	// With one slot no partition runs beside another, so no compare-and-set is tried again.
	work(t, s.Conn(), newExecutor(t), f.reg, cluster.WorkerConfig{Slots: 1}.Between(between, nil))
	c := connect(t, s.Conn())

	// trips returns the round trips of a chain of so many stages, and its partitions.
	trips := func(stages, width int) (trips, parts int64) {
		g := cluster.NewGraph("chain")
		end := cluster.Arg[int](f.one.Call(g).Cost(cluster.DefaultTarget))
		for range stages {
			var beside []cluster.Arg[int]
			for range width {
				beside = append(beside, f.double.Call(g, end).Cost(cluster.DefaultTarget))
			}
			end = beside[0]
			if width > 1 {
				end = f.sum.Call(g, beside...).Cost(cluster.DefaultTarget)
			}
		}
		before := count.trips()
		h, err := c.Submit(within(t), g, cluster.Submission{})
		require.NoError(t, err)
		_, err = h.Wait(within(t))
		require.NoError(t, err)
		after := count.trips() // nothing is called after the state is final
		p, err := h.Progress(within(t))
		require.NoError(t, err)
		require.Equal(t, g.Len(), p.Parts, "each call is a partition")
		return after - before, int64(p.Parts)
	}
	for _, tt := range []struct{ width, stage int64 }{
		{1, 3},
		{2, 2*(3+2) - 1 + 3},
		{8, 8*(3+2) - 7 + 3},
	} {
		testkit.Fits(t, func() string { // a busy server may deliver a message twice
			few, fewParts := trips(4, int(tt.width))
			many, manyParts := trips(24, int(tt.width))
			got, want := many-few, 20*tt.stage
			t.Logf("width %d: %d round trips for %d partitions", tt.width, got, manyParts-fewParts)
			if got != want {
				return fmt.Sprintf("%d round trips for 20 stages of %d partitions, and not %d", got, tt.width, want)
			}
			return ""
		})
	}
}
