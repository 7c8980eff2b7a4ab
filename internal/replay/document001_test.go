package replay

import (
	"strings"
	"testing"

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
