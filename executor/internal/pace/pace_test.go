package pace

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const µs = int64(time.Microsecond)

// run has a task call every period nanoseconds until end, while each offer takes the given time. It returns how often
// the worker has looked at the clock and offered its processor, and the longest time between two offers.
func run(p *Pace, task uint64, now *int64, end, period, takes int64) (looks, offers int, longest int64) {
	last := *now
	for ; *now < end; *now += period {
		if p.Skip(task) {
			continue
		}
		looks++
		if p.Look(task, *now) {
			longest = max(longest, *now-last)
			from := *now
			*now += takes
			p.Offered(from, *now)
			last = *now
			offers++
		}
	}
	return looks, offers, longest
}

func TestOffersAtTheInterval(t *testing.T) {
	p := Pace{Interval: 100 * µs, Longest: 4000 * µs}
	now := int64(1)
	looks, offers, longest := run(&p, 1, &now, 10_000*µs, 10, 0)
	require.InDelta(t, 100, offers, 2)
	require.Less(t, longest, 101*µs)
	require.Less(t, looks, 10_000*100/20, "few of the calls look at the clock")

	start := now
	looks, offers, longest = run(&p, 2, &now, start+1000_000*µs, 1000*µs, 0)
	require.Equal(t, 1000, looks, "a new task that calls seldom looks at each call")
	require.InDelta(t, 1000, offers, 1)
	require.LessOrEqual(t, longest, 1000*µs)

	run(&p, 3, &now, now+1000*µs, 10, 0)
	start = now
	_, _, longest = run(&p, 3, &now, start+1000_000*µs, 1000*µs, 0)
	require.LessOrEqual(t, longest, (most+1)*1000*µs, "the same task begins to call seldom")
}

// A worker that waits has its processor for as long afterwards, at most Longest.
func TestKeepsWhatItWaitedFor(t *testing.T) {
	for takes, want := range map[int64]int64{10 * µs: 100 * µs, 700 * µs: 700 * µs, 9000 * µs: 4000 * µs} {
		p := Pace{Interval: 100 * µs, Longest: 4000 * µs}
		now := int64(1)
		run(&p, 1, &now, 100*µs, 10, takes) // the first offer
		_, offers, longest := run(&p, 1, &now, now+100_000*µs, 10, takes)
		require.Positive(t, offers)
		require.InDelta(t, want, longest, float64(2*µs))
	}
}

func TestFirstCallOffers(t *testing.T) {
	var p Pace
	require.False(t, p.Skip(0))
	require.True(t, p.Look(0, 5))
}
