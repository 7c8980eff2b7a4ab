package virtual

import (
	"fmt"
	"math/big"
	"testing"

	"github.com/stretchr/testify/require"
)

// arrival is scenario (a) of document 003 (Fig 2-1): jobs A and B at step 0, and C at step t. Each can use half of the
// processors, and takes length steps on these.
func arrival(processors, length, t int) []Job {
	job := Job{Limit: processors / 2, Phases: []Phase{Parallel(processors / 2 * length)}}
	jobs := []Job{job, job, job}
	for i, name := range []string{"A", "B", "C"} {
		jobs[i].Name = name
	}
	jobs[2].Arrival = t
	return jobs
}

// complements is scenario (b): job A is serial and then parallel, B the other way round. With all processors but one,
// the parallel phase takes as long as the serial one.
func complements(processors, length int) []Job {
	serial, parallel := Serial(length), Parallel(length*(processors-1))
	return []Job{
		{Name: "A", Phases: []Phase{serial, parallel}},
		{Name: "B", Phases: []Phase{parallel, serial}},
	}
}

func ratio(a, b int) *big.Rat { return big.NewRat(int64(a), int64(b)) }

// figures returns the mean response, throughput and power of r, in units of length, without rounding.
func figures(r Result, length int) (response, throughput, power *big.Rat) {
	sum, last := 0, 0
	for _, o := range r.Jobs {
		sum += o.Response()
		last = max(last, o.Finish)
	}
	response = ratio(sum, len(r.Jobs)*length)
	throughput = ratio(len(r.Jobs)*length, last)
	return response, throughput, new(big.Rat).Quo(throughput, response)
}

// TestArrivalTheory is table 7-7 of document 003, for an ideal machine: desires are known, and allotments follow them
// at once. 12 processors divide by two and by three, so that the theory's halves and thirds are whole.
func TestArrivalTheory(t *testing.T) {
	const processors, length = 12, 24
	for _, c := range []struct {
		t                                                 int
		static, shared                                    [3]*big.Rat // response, throughput, power
		responseRatio, throughputRatio, powerRatioPrinted string
	}{
		{
			0,
			[3]*big.Rat{ratio(4, 3), ratio(3, 2), ratio(9, 8)},
			[3]*big.Rat{ratio(3, 2), ratio(2, 1), ratio(4, 3)},
			"1.125", "1.333", "1.185",
		},
		{
			length / 2,
			[3]*big.Rat{ratio(7, 6), ratio(3, 2), ratio(9, 7)},
			[3]*big.Rat{ratio(5, 4), ratio(12, 7), ratio(48, 35)},
			"1.071", "1.143", "1.067",
		},
	} {
		jobs := arrival(processors, length, c.t)
		check := func(m Machine, want [3]*big.Rat) Result {
			r := m.Run(jobs)
			response, throughput, power := figures(r, length)
			require.Equal(t, fmt.Sprint(want), fmt.Sprint([3]*big.Rat{response, throughput, power}))
			float := func(x *big.Rat) float64 { f, _ := x.Float64(); return f }
			require.InEpsilon(t, float(response)*length, r.MeanResponse(), 1e-12)
			require.InEpsilon(t, float(throughput)/length, r.Throughput(), 1e-12)
			require.InEpsilon(t, float(power)/length/length, r.Power(), 1e-12)
			return r
		}
		static := check(Machine{Processors: processors, Control: Static}, c.static)
		for _, incremental := range []bool{false, true} {
			shared := check(Machine{Processors: processors, Control: Shared, Incremental: incremental}, c.shared)
			require.Equal(t, c.responseRatio, fmt.Sprintf("%.3f", shared.MeanResponse()/static.MeanResponse()))
			require.Equal(t, c.throughputRatio, fmt.Sprintf("%.3f", shared.Throughput()/static.Throughput()))
			require.Equal(t, c.powerRatioPrinted, fmt.Sprintf("%.3f", shared.Power()/static.Power()))
		}
		require.Equal(t, c.t, static.Jobs[2].Arrival)
		require.Equal(t, length, static.Jobs[2].Start, "job C waits")
	}
}

// TestArrivalTheoryOnFew: on 4 processors three jobs cannot have 4/3 each. The throughput is the theory's all the same.
func TestArrivalTheoryOnFew(t *testing.T) {
	jobs := arrival(4, 24, 0)
	static := Machine{Processors: 4, Control: Static}.Run(jobs)
	shared := Machine{Processors: 4, Control: Shared}.Run(jobs)
	require.Equal(t, "1.333", fmt.Sprintf("%.3f", shared.Throughput()/static.Throughput()))
}

// TestComplementsTheory: with the document's partitions, a half for each job, scenario (b) takes length +
// length·(P−1)/(P/2) steps. On an ideal machine it takes 2·length, which is less by (P−2)/(3P−2).
func TestComplementsTheory(t *testing.T) {
	const length = 160
	for _, c := range []struct {
		processors int
		gain       string
	}{
		{2, "0 %"}, {4, "20 %"}, {8, "27 %"}, {16, "30 %"},
	} {
		jobs := complements(c.processors, length)
		static := Machine{Processors: c.processors, Control: Static}.Run(jobs)
		for _, incremental := range []bool{false, true} {
			shared := Machine{Processors: c.processors, Control: Shared, Incremental: incremental}.Run(jobs)
			before, _, _ := figures(static, length)
			after, _, _ := figures(shared, length)
			require.Zero(t, after.Cmp(ratio(2, 1)), "P = %d: %s", c.processors, after)
			gain := new(big.Rat).Sub(ratio(1, 1), after.Quo(after, before))
			require.Zero(t, gain.Cmp(ratio(c.processors-2, 3*c.processors-2)), "P = %d: %s", c.processors, gain)
			require.Equal(t, c.gain, fmt.Sprintf("%.0f %%", 100*(1-shared.MeanResponse()/static.MeanResponse())))
		}
	}
}
