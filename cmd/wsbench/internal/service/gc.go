package service

import (
	"math"
	"runtime/metrics"
)

// A gcState is the garbage collector's own account of the process so far.
type gcState struct {
	cycles           uint64
	pauses, stopping *metrics.Float64Histogram
}

const (
	cyclesMetric   = "/gc/cycles/total:gc-cycles"
	pausesMetric   = "/sched/pauses/total/gc:seconds"
	stoppingMetric = "/sched/pauses/stopping/gc:seconds"
)

func readGC() gcState {
	all := []metrics.Sample{{Name: cyclesMetric}, {Name: pausesMetric}, {Name: stoppingMetric}}
	metrics.Read(all)
	return gcState{all[0].Value.Uint64(), all[1].Value.Float64Histogram(), all[2].Value.Float64Histogram()}
}

// gcTimes sums up what the garbage collector did. A pause is a time for which the collector had stopped all goroutines,
// with the stopping. Times are upper ends of the runtime's buckets.
type gcTimes struct {
	Cycles      uint64  `json:"cycles"`
	Pauses      uint64  `json:"pauses"`
	PauseP50    float64 `json:"pause_p50_us"`
	PauseP99    float64 `json:"pause_p99_us"`
	PauseMax    float64 `json:"pause_max_us"`
	StoppingP99 float64 `json:"stopping_p99_us"`
	StoppingMax float64 `json:"stopping_max_us"`
}

func (g gcState) since(before gcState) gcTimes {
	pauses, stopping := difference(g.pauses, before.pauses), difference(g.stopping, before.stopping)
	return gcTimes{
		Cycles:      g.cycles - before.cycles,
		Pauses:      pauses.count(),
		PauseP50:    pauses.quantile(0.5) * 1e6,
		PauseP99:    pauses.quantile(0.99) * 1e6,
		PauseMax:    pauses.quantile(1) * 1e6,
		StoppingP99: stopping.quantile(0.99) * 1e6,
		StoppingMax: stopping.quantile(1) * 1e6,
	}
}

type histogram metrics.Float64Histogram

func difference(after, before *metrics.Float64Histogram) *histogram {
	d := &histogram{Counts: make([]uint64, len(after.Counts)), Buckets: after.Buckets}
	for i := range d.Counts {
		d.Counts[i] = after.Counts[i] - before.Counts[i]
	}
	return d
}

func (h *histogram) count() (n uint64) {
	for _, c := range h.Counts {
		n += c
	}
	return n
}

// quantile returns the upper end of the bucket with the quantile q, or 0 if the histogram is empty.
func (h *histogram) quantile(q float64) float64 {
	left := uint64(math.Ceil(q * float64(h.count())))
	if left == 0 {
		return 0
	}
	for i, c := range h.Counts {
		if left <= c {
			if end := h.Buckets[i+1]; !math.IsInf(end, 0) {
				return end
			}
			return h.Buckets[i]
		}
		left -= c
	}
	return 0
}
