package quota

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/require"
)

const (
	cycle  = 5 * time.Millisecond
	period = 100 * time.Millisecond
)

// alone returns a budget with a quota and one part of it.
func alone(cpus, host float64) (*Budget, *Part) {
	b, p := &Budget{}, &Part{Host: host, Cycle: cycle}
	b.Join(p)
	b.SetQuota(cpus, period)
	return b, p
}

func TestNoQuota(t *testing.T) {
	b, p := &Budget{}, &Part{Host: 0.25, Cycle: cycle}
	b.Join(p)
	require.False(t, b.Limited())
	require.Equal(t, 7, b.Next(p, cycle, 7*cycle, 7))
	b.SetQuota(math.Inf(1), 0)
	require.Equal(t, 7, b.Next(p, cycle, 7*cycle, 7))
	require.True(t, math.IsInf(b.Rate(), 1))
}

// Workers that are always awake when they may be use exactly their share, whatever it is.
func TestShareIsUsed(t *testing.T) {
	for _, cpus := range []float64{0.1, 0.5, 1, 1.5, 2, 3.7, 16} {
		for _, host := range []float64{0.05, 0.25, 0.5, 0.9} {
			b, p := alone(cpus, host)
			const cycles = 20_000
			sum, awake := 0, b.Next(p, cycle, 0, 64)
			for range cycles {
				sum += awake
				awake = b.Next(p, cycle, time.Duration(awake)*cycle, 64)
			}
			want := cpus * (1 - host) * cycles
			slack := 1 + host*cpus*float64(period/cycle) // what the budget holds
			require.InDelta(t, want, sum, slack, "cpus %v host %v", cpus, host)
		}
	}
}

// In no period do workers whose tasks are short use so much that less than half of the host's share is left.
func TestHostKeepsHalf(t *testing.T) {
	rng := rand.New(rand.NewPCG(testkit.Seed(t), 0))
	for range testkit.Count(t, 100) {
		cpus, host := 0.2+rng.Float64()*8, 0.05+rng.Float64()*0.9
		b, p := alone(cpus, host)
		var used []int
		awake := 0
		for busy := true; len(used) < 3000; {
			if rng.IntN(20) == 0 {
				busy = !busy
			}
			n := awake
			if !busy {
				n = 0
			}
			used = append(used, n)
			awake = b.Next(p, cycle, time.Duration(n)*cycle, 1000)
		}
		const window = int(period / cycle)
		// A budget that is less than a worker needs for a cycle cannot be met within one period.
		limit := math.Ceil((1-host)*cpus*float64(window)+host*cpus*float64(window)/2) + 2
		for i := range len(used) - window {
			sum := 0
			for _, n := range used[i : i+window] {
				sum += n
			}
			require.LessOrEqual(t, float64(sum), limit, "from cycle %d: cpus %v host %v", i, cpus, host)
		}
	}
}

// A task that takes longer than it may is paid for by rests afterwards, of about a second at most.
func TestLongTask(t *testing.T) {
	b, p := alone(2, 0.25)
	b.Next(p, time.Second, 2*time.Second, 2)
	rests := 0
	for b.Next(p, cycle, 0, 2) == 0 {
		rests++
	}
	require.InDelta(t, 0.5/1.5, (time.Duration(rests) * cycle).Seconds(), 0.03) // it began with 25 ms
	b.Next(p, time.Hour, 2*time.Hour, 2)
	rests = 0
	for b.Next(p, cycle, 0, 2) == 0 {
		rests++
	}
	require.InDelta(t, 1, (time.Duration(rests) * cycle).Seconds(), 0.02)
}

func TestThrottled(t *testing.T) {
	b, _ := alone(10, 0.2)
	require.InDelta(t, 8, b.Rate(), 1e-9)
	for range 100 {
		b.Throttled(true)
	}
	require.InDelta(t, 8*least, b.Rate(), 1e-9)
	require.Positive(t, b.Rate())
	periods := 0
	for ; b.Rate() < 7.99; periods++ {
		b.Throttled(false)
	}
	require.InDelta(t, 0.95/comeBack, periods, 1)
}

// A changed quota takes effect at once, and no quota any more ends the limit.
func TestQuotaChanges(t *testing.T) {
	b, p := alone(4, 0.5)
	for range 100 {
		b.Next(p, cycle, 2*cycle, 8)
	}
	b.SetQuota(1, period)
	sum, n := 0, 2
	for range 1000 {
		n = b.Next(p, cycle, time.Duration(n)*cycle, 8)
		sum += n
	}
	require.InDelta(t, 500, sum, 25)
	b.SetQuota(math.Inf(1), 0)
	require.Equal(t, 8, b.Next(p, cycle, 0, 8))
}
