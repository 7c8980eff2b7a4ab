package replay

import (
	"strings"
	"testing"
	"time"

	"github.com/magpie-go/magpie/cmd/wsbench/internal/bench"
	"github.com/magpie-go/magpie/cmd/wsbench/internal/bench/workloads"
	"github.com/stretchr/testify/require"
)

// TestIdeal001: with the sleeps of document 001 in order, and first in and first out, a shared queue and a deal to
// threads give the same schedule at no cost, and no thread ever finds a task to steal. So no way to steal matters.
func TestIdeal001(t *testing.T) {
	for _, tt := range []struct {
		threads, tasks int
		want           string // in what refutes the claims
		claims         []*Claim
	}{
		{4, 40, "takes 220 units", f2.claims},
		{16, 160, "takes 880 units", f3.claims},
		{64, 320, "takes 960 units", f4.claims},
	} {
		shared, dealt, lastBegin := make([]int, tt.threads), make([]int, tt.threads), 0
		for task := range tt.tasks {
			first := 0 // the thread that is free first takes the next task of the shared queue
			for i, free := range shared {
				if free < shared[first] {
					first = i
				}
			}
			shared[first] += task + 1
			lastBegin = max(lastBegin, dealt[task%tt.threads])
			dealt[task%tt.threads] += task + 1
		}
		require.Equal(t, dealt, shared)
		for i, end := range dealt {
			require.GreaterOrEqual(t, end, lastBegin, "thread %d runs out when all tasks have begun", i)
		}
		refuted := 0
		for _, c := range tt.claims {
			if c.refuted != "" {
				refuted++
				require.True(t, strings.HasSuffix(c.refuted, tt.want), c.refuted)
			}
		}
		require.Equal(t, 5, refuted)
		require.Contains(t, tt.want, " "+itoa(dealt[tt.threads-1])+" ")
	}
}

// TestIdealSteals: schedules of sleeps at no cost, of which the first are made by hand.
func TestIdealSteals(t *testing.T) {
	half, all := func(n int) int { return (n + 1) / 2 }, func(n int) int { return n }
	for _, tt := range []struct {
		units   []int
		threads int
		amount  func(int) int
		want    int
	}{
		{[]int{5, 1, 2, 1}, 2, nil, 7},                     // 2 5 and 1 1
		{[]int{5, 1, 2, 1}, 2, stealOne, 7},                // 2 and 1 1: at 2 either takes the 5, which ends at 7
		{[]int{5, 1, 2, 3}, 1, stealOne, 11},               // nobody to steal from
		{[]int{9, 1, 4, 1, 4, 1}, 2, nil, 17},              // 4 4 9 and 1 1 1
		{[]int{9, 1, 4, 1, 4, 1}, 2, all, 13},              // at 3 the second takes 9 and 4, and the first takes 9 back at 4
		{[]int{9, 1, 4, 1, 4, 1}, 2, half, 12},             // at 3 the second takes 9
		{workloads.Sleeps(40, 0, false), 4, nil, 220},      // 4 8 … 40
		{workloads.Sleeps(40, 0, false), 4, stealOne, 208}, // the lower bound of any schedule is 205
	} {
		require.Equal(t, tt.want, ideal001(tt.units, tt.threads, tt.amount), "%v", tt.units)
	}
	// The lower bounds are 805 and 802.5: no more than a share of the distance to these is a cost.
	require.Equal(t, []int{832, 898, 880, 1014}, []int{
		ideal001(workloads.Sleeps(160, 42, false), 16, stealOne), ideal001(workloads.Sleeps(160, 42, true), 16, stealOne),
		ideal001(workloads.Sleeps(320, 42, false), 64, stealOne), ideal001(workloads.Sleeps(320, 42, true), 64, stealOne),
	})
}

// TestUnitOfBound: the schedule without costs is in the unit of the sleeps, also if that is not the usual one.
func TestUnitOfBound(t *testing.T) {
	claim := f2.claims[5]
	require.Equal(t, "001/f2 bound", claim.ID)
	for _, tt := range []struct {
		unit, usual, of time.Duration
		want            Outcome
	}{
		{0, time.Millisecond, 218 * time.Millisecond, Held}, // 208 units and 5 %
		{0, time.Millisecond, 219 * time.Millisecond, NotHeld},
		{time.Second, time.Second, 218 * time.Second, Held},
		{time.Second, time.Second, 219 * time.Second, NotHeld},
	} {
		d := &Data{Options: Options{Unit: tt.unit}, Rows: []bench.Row{newRow([]bench.Metric{
			{Name: "ns/op", Value: float64(tt.of)}, {Name: "bound-ns", Value: 205 * float64(tt.usual)},
		}, "workload", "sleep", "queue", asleep001)}}
		require.Equal(t, tt.want, claim.judge(d).Outcome, "%v", tt)
	}
}
