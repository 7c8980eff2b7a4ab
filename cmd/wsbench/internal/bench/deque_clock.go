package bench

import (
	"slices"
	"sync/atomic"
	"time"

	"github.com/magpie-go/magpie/internal/pad"
)

// A stopwatch measures times that are hardly longer than a look at the clock. Any thread may look at it. One thread
// gauges it.
//
// A time between two looks has in it the end of the first look and the beginning of the second. This cost has to be
// taken off. The processor does a part of it while what lies between the looks waits for memory, so the cost is less
// than the time between two looks in a row. And it depends on what else the core, or its twin, is doing. So it is
// measured beside the times that it is taken off, by the same thread, as the time of no operation: 2*t(n) - t(2n),
// with the times t of n and of 2n atomic operations, such as a steal has.
type stopwatch struct {
	begin time.Time
	_     pad.Line

	word        atomic.Int64
	once, twice []time.Duration // the times of gaugeOps operations, and of twice as many
	_           pad.Line
}

// gaugeOps is n above: enough to take longer than the clock's tick on most machines.
const gaugeOps = 8

func newStopwatch() *stopwatch { return &stopwatch{begin: time.Now()} }

// now returns the time since the stopwatch was made.
func (s *stopwatch) now() time.Duration { return time.Since(s.begin) }

// gauge makes n measurements of the cost.
func (s *stopwatch) gauge(n int) {
	for range n {
		s.once = append(s.once, s.operate(gaugeOps))
		s.twice = append(s.twice, s.operate(2*gaugeOps))
	}
}

func (s *stopwatch) operate(n int) time.Duration {
	begin := s.now()
	for range n {
		s.word.Add(1)
	}
	return s.now() - begin
}

// cost returns what two looks add to the time between them, in ns.
func (s *stopwatch) cost() float64 { return max(0, 2*typical(s.once)-typical(s.twice)) }

// typical returns the mean of the middle half of times, in ns: finer than the clock's tick, and without the times in
// which the thread was interrupted. It sorts times.
func typical(times []time.Duration) float64 {
	slices.Sort(times)
	quarter := len(times) / 4
	middle := times[quarter : len(times)-quarter]
	sum := time.Duration(0)
	for _, t := range middle {
		sum += t
	}
	return float64(sum.Nanoseconds()) / float64(max(len(middle), 1))
}
