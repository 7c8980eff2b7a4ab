package bench

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/require"
)

// TestStopwatch measures delays of known length, about as long as steals take: atomic operations of which a thousand
// times as many were measured in one go. The median of the single delays has to come to the same, less the stopwatch's
// cost. The clocks of many processors tick every 10 ns, and a median is a multiple of that. On a machine with other
// work the median of one of many series of attempts has to be good.
func TestStopwatch(t *testing.T) {
	const maxTick = 10 * time.Nanosecond
	if testkit.Race {
		t.Skip("one thread is measured, and the detector makes its operations uneven")
	}
	if tick := clockTick(); tick > maxTick {
		t.Skipf("the clock ticks every %v only", tick)
	}
	var word atomic.Int64
	operate := func(n int) {
		for range n {
			word.Add(1)
		}
	}
	measure := func(n int) (got, want float64) {
		s := newStopwatch()
		begin := s.now()
		operate(1000 * n)
		want = float64((s.now() - begin).Nanoseconds()) / 1000
		var times []time.Duration
		for range 501 {
			begin := s.now()
			operate(n)
			times = append(times, s.now()-begin)
			s.gauge(1)
		}
		return quantile(times, 0.5) - s.cost(), want
	}
	for _, n := range []int{3, 12, 50} {
		var want float64
		// off returns the median of what attempts are off: a thread that is interrupted in one of them does not count.
		off := func() float64 {
			var all []float64
			for range 15 {
				var got float64
				got, want = measure(n)
				all = append(all, got-want)
			}
			slices.Sort(all)
			return all[len(all)/2]
		}
		testkit.Fits(t, func() (wrong string) {
			if ns := off(); math.Abs(ns) > float64(maxTick)+0.05*want {
				wrong = fmt.Sprintf("%d operations take %v ns, and %v more if timed", n, want, ns)
			}
			return wrong
		})
	}
}

// clockTick returns the difference of the two shortest times between looks at the clock.
func clockTick() time.Duration {
	s := newStopwatch()
	times := make(map[time.Duration]bool)
	for range 10000 {
		begin := s.now()
		times[s.now()-begin] = true
	}
	all := slices.Sorted(maps.Keys(times))
	if len(all) < 2 {
		return time.Second
	}
	return all[1] - all[0]
}

func TestTypical(t *testing.T) {
	require.Equal(t, 7.0, typical([]time.Duration{7}))
	require.Equal(t, 4.5, typical([]time.Duration{1e6, 5, 0, 4}))
	require.Equal(t, 5.5, typical([]time.Duration{5, 6, 5, 6, -100, 0, 1e6, 1e9}))
}

// TestCost: the cost is that of the times that were measured beside it.
func TestCost(t *testing.T) {
	s := newStopwatch()
	require.Zero(t, s.cost())
	s.once, s.twice = []time.Duration{80, 81, 5000, 81}, []time.Duration{128, 129, 128, 7000}
	require.InDelta(t, 2*81-128.5, s.cost(), 1)
	s.twice = []time.Duration{300}
	require.Zero(t, s.cost())
}
