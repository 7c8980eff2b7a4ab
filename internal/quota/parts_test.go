package quota

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/require"
)

// A job is an executor that has work for so many workers, all of which it uses when it may.
type job struct {
	Part
	work int
	may  int
	used time.Duration // in all
}

func newJob(host float64, work int) *job {
	return &job{Part: Part{Host: host, Cycle: cycle}, work: work}
}

// play lets the jobs, which have joined, end so many cycles each, one after the other within a cycle.
func play(b *Budget, cycles int, jobs ...*job) {
	for range cycles {
		for _, j := range jobs {
			used := time.Duration(min(j.may, j.work)) * cycle
			j.used += used
			j.may = b.Next(&j.Part, cycle/time.Duration(len(jobs)), used, 64)
		}
	}
}

// use returns how many CPUs each job uses on average in a number of cycles, after some to settle.
func use(b *Budget, jobs ...*job) (cpus []float64) {
	const cycles = 10_000
	play(b, 200, jobs...)
	for _, j := range jobs {
		j.used = 0
	}
	play(b, cycles, jobs...)
	for _, j := range jobs {
		cpus = append(cpus, float64(j.used)/float64(cycles*cycle))
	}
	return cpus
}

// Several parts together use what one alone may, evenly, and what one does not need the others have.
func TestParts(t *testing.T) {
	for _, c := range []struct {
		name string
		cpus float64
		jobs []*job
		want []float64
	}{
		{"even", 2, []*job{newJob(0.25, 8), newJob(0.25, 8)}, []float64{0.75, 0.75}},
		{"large", 16, []*job{newJob(0.05, 64), newJob(0.05, 64)}, []float64{7.6, 7.6}},
		{"small", 0.3, []*job{newJob(0.5, 8), newJob(0.5, 8), newJob(0.5, 8)}, []float64{0.05, 0.05, 0.05}},
		{"one has no work", 2, []*job{newJob(0.25, 8), newJob(0.25, 0)}, []float64{1.5, 0}},
		{"one has no work, large", 16, []*job{newJob(0.05, 64), newJob(0.05, 0), newJob(0.05, 0)}, []float64{15.2, 0, 0}},
		{"one has little work", 8, []*job{newJob(0.25, 1), newJob(0.25, 64)}, []float64{1, 5}},
		{"the largest share is kept free", 4, []*job{newJob(0.1, 8), newJob(0.5, 8)}, []float64{1, 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := &Budget{}
			for _, j := range c.jobs {
				b.Join(&j.Part)
			}
			b.SetQuota(c.cpus, period)
			require.InDeltaSlice(t, c.want, use(b, c.jobs...), 0.02*c.cpus)
		})
	}
}

// A part that has left takes nothing, and no host's share is kept for it.
func TestLeave(t *testing.T) {
	one, two := newJob(0.2, 64), newJob(0.5, 64)
	b := &Budget{}
	b.Join(&one.Part)
	b.Join(&two.Part)
	b.SetQuota(10, period)
	require.InDeltaSlice(t, []float64{2.5, 2.5}, use(b, one, two), 0.1)
	b.Leave(&two.Part)
	b.Leave(&two.Part) // does nothing
	require.InDeltaSlice(t, []float64{8}, use(b, one), 0.1)
	b.Join(&two.Part)
	b.Leave(&one.Part)
	require.InDeltaSlice(t, []float64{5}, use(b, two), 0.1)
}

// A debt stays when the part that has made it leaves: the others pay for it, by rests of about a second at most.
func TestDebtStays(t *testing.T) {
	one, two := newJob(0.25, 2), newJob(0.25, 2)
	b := &Budget{}
	b.Join(&one.Part)
	b.SetQuota(2, period)
	b.Next(&one.Part, 0, time.Hour, 2)
	b.Leave(&one.Part)
	b.Join(&two.Part)
	rests := 0
	for b.Next(&two.Part, cycle, 0, 2) == 0 {
		rests++
	}
	require.InDelta(t, 1, (time.Duration(rests) * cycle).Seconds(), 0.02)
}

// However parts join, work, rest and leave, together they use no more than the quota in a period, and no more than
// their share in the long run.
func TestRandomParts(t *testing.T) {
	rng := rand.New(rand.NewPCG(testkit.Seed(t), 0))
	for range testkit.Count(t, 100) {
		cpus, host := 1+rng.Float64()*8, 0.1+rng.Float64()*0.8
		jobs := []*job{newJob(host, 0), newJob(host, 0), newJob(host, 0)}
		joined := map[*job]bool{}
		b := &Budget{}
		b.Join(&jobs[0].Part)
		joined[jobs[0]] = true
		b.SetQuota(cpus, period)
		const cycles = 4000
		var used []float64 // in each cycle, in cycles
		for range cycles {
			lasted, sum := cycle, time.Duration(0)
			for _, j := range jobs {
				switch {
				case rng.IntN(100) == 0 && joined[j]:
					b.Leave(&j.Part)
					joined[j], j.may = false, 0
				case rng.IntN(100) == 0 && !joined[j]:
					b.Join(&j.Part)
					joined[j] = true
				case rng.IntN(20) == 0:
					j.work = rng.IntN(2) * 64
				}
				if joined[j] {
					n := time.Duration(min(j.may, j.work)) * cycle
					sum += n
					j.may = b.Next(&j.Part, lasted, n, 64)
					lasted = 0
				}
			}
			used = append(used, float64(sum)/float64(cycle))
		}
		const period = int(period / cycle)
		rate := (1 - host) * cpus
		ahead := rate + 6 // what comes in the next cycle, and for each part what one worker uses and rounding
		reserve := max(host*cpus*float64(period)/2, 3*rate)
		for window, limit := range map[int]float64{
			period: max(cpus*float64(period), rate*float64(period)+reserve) + ahead,
			cycles: rate*cycles + 2*reserve + ahead,
		} {
			for i := range cycles - window + 1 {
				sum := 0.0
				for _, n := range used[i : i+window] {
					sum += n
				}
				require.LessOrEqual(t, sum, limit, "%d cycles from %d: cpus %v host %v", window, i, cpus, host)
			}
		}
	}
}
