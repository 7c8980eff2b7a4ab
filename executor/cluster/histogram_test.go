package cluster_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/magpie-go/magpie/executor/cluster"
)

// TestHistogram: each duration is in the bucket that its bounds say.
func TestHistogram(t *testing.T) {
	const last = len(cluster.Histogram{}.Counts) - 1
	h := cluster.HistogramOf()
	require.Zero(t, h.Count())
	require.Zero(t, h.Quantile(0.5))
	for i := range last {
		bound := cluster.HistogramBound(i)
		h = cluster.HistogramOf(bound, bound+1)
		require.EqualValues(t, 1, h.Counts[i], i)
		require.EqualValues(t, 1, h.Counts[i+1], i)
		require.Equal(t, 2*bound+1, h.Sum)
		require.Equal(t, bound, h.Quantile(0.5))
		require.Equal(t, cluster.HistogramBound(i+1), h.Quantile(1))
	}
	require.Equal(t, time.Duration(math.MaxInt64), cluster.HistogramBound(last))
	h = cluster.HistogramOf(-1, 0, math.MaxInt64)
	require.EqualValues(t, 2, h.Counts[0])
	require.EqualValues(t, 1, h.Counts[last])
	require.Equal(t, cluster.HistogramBound(0), h.Quantile(0))
}
