package cluster

import (
	"math"
	"math/bits"
	"sync/atomic"
	"time"
)

// The bounds of the buckets of a Histogram: each is twice the one before.
const (
	firstBound = 100 * time.Microsecond
	buckets    = 24 // the last bound is seven minutes
)

// A Histogram counts durations. Bucket i has those of at most [HistogramBound](i) and more than the bound before, and
// the last one all others.
type Histogram struct {
	Counts [buckets]uint64
	Sum    time.Duration
}

// HistogramBound returns the bound of bucket i of all histograms. The last bucket has none: it is the longest duration.
func HistogramBound(i int) time.Duration {
	if i >= buckets-1 {
		return math.MaxInt64
	}
	return firstBound << i
}

// Count returns how many durations there are.
func (h *Histogram) Count() (n uint64) {
	for _, c := range h.Counts {
		n += c
	}
	return n
}

// Quantile returns the bound of the bucket that has the quantile q: 0.5 gives the median, at most twice too large if it
// is between 50 µs and seven minutes. It is 0 if there are no durations.
func (h *Histogram) Quantile(q float64) time.Duration {
	n := h.Count()
	if n == 0 {
		return 0
	}
	rank := uint64(math.Ceil(q * float64(n)))
	sum := uint64(0)
	for i, c := range h.Counts {
		if sum += c; c > 0 && sum >= rank {
			return HistogramBound(i)
		}
	}
	return HistogramBound(buckets - 1)
}

// times is a Histogram that grows. Any thread.
type times struct {
	counts [buckets]atomic.Uint64
	sum    atomic.Int64
}

func (t *times) add(d time.Duration) {
	d = max(d, 0)
	i := 0
	if d > firstBound {
		i = bits.Len64(uint64((d - 1) / firstBound))
	}
	t.counts[min(i, buckets-1)].Add(1)
	t.sum.Add(int64(d))
}

func (t *times) histogram() (h Histogram) {
	for i := range t.counts {
		h.Counts[i] = t.counts[i].Load()
	}
	h.Sum = time.Duration(t.sum.Load())
	return h
}
