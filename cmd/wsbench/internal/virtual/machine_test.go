package virtual

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/magpie-go/magpie/internal/allot"
)

var (
	wsap  = allot.WSAP{Efficiency: 500}
	usual = aSteal{Efficiency: 800, Response: 1500}
	cycle = 50
)

// sharing returns a machine on which jobs estimate their desires by the document's rule, with η = 0.5.
func sharing(processors int) Machine {
	return Machine{Processors: processors, Control: Shared, Rule: wsap, Cycle: cycle}
}

// TestScenarios has the figures of the document's scenarios on virtual processors: mean responses in steps. They change
// only with the model.
func TestScenarios(t *testing.T) {
	for _, c := range scenarios {
		jobs := arrival(c.processors, 2000, c.t)
		if c.t < 0 {
			jobs = complements(c.processors, 2000)
		}
		machines := []Machine{
			{Processors: c.processors, Control: Static},
			{Processors: c.processors, Control: Uncontrolled},
			sharing(c.processors),
			sharing(c.processors),
			{Processors: c.processors, Control: Shared, Rule: allot.Instant{}, Cycle: cycle},
			{Processors: c.processors, Control: Shared, Rule: usual, Cycle: cycle},
		}
		machines[3].Incremental = true
		var got []string
		for _, m := range machines {
			r := m.Run(jobs)
			require.Equal(t, r, m.Run(jobs))
			got = append(got, fmt.Sprintf("%.0f", r.MeanResponse()))
		}
		require.Equal(t, c.responses, strings.Join(got, " "), "P = %d, t = %d", c.processors, c.t)
	}
}

// scenarios: of arrival, or with t < 0 of complements.
var scenarios = []struct {
	processors, t int
	responses     string // static, uncontrolled, WSAP, WSAP by algorithm DP, instantaneous, A-Steal
}{
	{4, 0, "2667 3000 2692 2692 2692 2708"},
	{8, 0, "2667 3000 2941 2941 2921 2953"},
	{16, 0, "2667 3000 2986 2986 2941 3008"},
	{4, 1000, "2333 2500 2367 2683 2367 2375"},
	{8, 1000, "2333 2500 2509 2509 2488 2542"},
	{16, 1000, "2333 2500 2554 2646 2494 2592"},
	{2, -1, "4000 6000 4000 4000 4000 4000"},
	{4, -1, "5000 7000 5012 5012 4034 4538"},
	{8, -1, "5500 7500 5230 5230 4059 4374"},
	{16, -1, "5750 7750 4853 4853 4068 4364"},
}

// TestArrival: sharing has nearly the throughput of an ideal machine (experiment P1). Where the processors divide among
// three jobs, and on 4, that is 4/3 of the throughput of partitions. On 8 it is 6/5: one of the jobs has two.
func TestArrival(t *testing.T) {
	for _, c := range []struct {
		processors int
		ideal      string
	}{
		{4, "1.333"}, {8, "1.200"}, {12, "1.333"}, {16, "1.333"},
	} {
		jobs := arrival(c.processors, 2000, 0)
		static := Machine{Processors: c.processors, Control: Static}.Run(jobs)
		ideal := Machine{Processors: c.processors, Control: Shared}.Run(jobs)
		shared := sharing(c.processors).Run(jobs)
		require.Equal(t, c.ideal, fmt.Sprintf("%.3f", ideal.Throughput()/static.Throughput()))
		require.Greater(t, shared.Throughput(), 0.96*ideal.Throughput(), "P = %d", c.processors)
		require.Greater(t, shared.Power(), static.Power(), "P = %d", c.processors)
	}
}

// TestComplements: what sharing gains in experiment P2, in percent. Desires known only from steal attempts gain less
// than the ideal machine of TestComplementsTheory. A serial phase keeps processors, as TestSerialPhase shows. On 4 they
// are half of the machine, so that nothing is left to gain. A-Steal goes by the time wasted, and sees that of two
// workers, too.
func TestComplements(t *testing.T) {
	for _, c := range []struct {
		rule  allot.Rule
		gains [4]string
	}{
		{nil, [4]string{"0", "20", "27", "30"}},
		{wsap, [4]string{"0", "-0", "5", "16"}},
		{allot.WSAP{Efficiency: 750}, [4]string{"0", "-0", "11", "19"}},
		{usual, [4]string{"0", "9", "20", "24"}},
	} {
		var gains [4]string
		for i, processors := range []int{2, 4, 8, 16} {
			jobs := complements(processors, 2000)
			static := Machine{Processors: processors, Control: Static}.Run(jobs)
			m := sharing(processors)
			m.Rule = c.rule
			gains[i] = fmt.Sprintf("%.0f", 100*(1-m.Run(jobs).MeanResponse()/static.MeanResponse()))
		}
		require.Equal(t, c.gains, gains, "%+v", c.rule)
	}
}

// TestSerialPhase: the rule never finds the one processor that a serial phase can use. Of two workers one steals, and
// its only victim works, so that no attempt is purely unsuccessful. In general z thieves among p workers meet z−1 of
// p−1 others that steal, fewer than the share z/p that the document takes for the same (section 6.1). With η = 0.5 and
// three workers that is one in two on average, at which the rule changes: the desire doubles, or stays, by the victims
// that the thieves draw. With 0.75 it goes to and fro between 2 and 3. In the document's Fig 7-10 a serial tree,
// knary(11,3,3) with η = 0.75, has 3.7 processors on average.
func TestSerialPhase(t *testing.T) {
	for _, c := range []struct {
		efficiency allot.Permille
		next       map[int][]int // the desires that may follow, by usage
		usage      float64
	}{
		{500, map[int][]int{1: {2}, 2: {4}, 3: {2, 3, 6}, 4: {2, 3, 4}, 6: {2, 3, 4}}, 4},
		{750, map[int][]int{1: {2}, 2: {3}, 3: {2, 3}}, 2.6},
	} {
		for seed := range uint64(10) {
			m := sharing(16)
			m.Seed, m.Rule = seed, allot.WSAP{Efficiency: c.efficiency}
			o := m.Run([]Job{{Phases: []Phase{Serial(200 * cycle)}}}).Jobs[0]
			require.Equal(t, 200*cycle, o.Finish)
			followed := make(map[string]bool)
			for i, at := range o.Cycles {
				require.Contains(t, c.next[at.Count.Usage], at.Desire, "after %d workers", at.Count.Usage)
				require.Equal(t, at.Desire, at.Allotment)
				require.Equal(t, (i+1)*cycle, at.At)
				followed[fmt.Sprint(at.Count.Usage, at.Desire)] = true
			}
			require.True(t, followed["3 3"])
			require.Equal(t, c.efficiency == 500, followed["3 6"])
			require.InDelta(t, c.usage, o.Usage, 0.2)
			require.Zero(t, o.Cycles[1].PUS(), "one thief, which meets a working victim")
			require.Zero(t, o.AllProcs)
		}
	}
}

// TestLoopy: a loop that spawns more than the machine can run has desired the whole machine within ten cycles, though
// it never has more than one thread beyond its workers. If it desires that number, it gets processors one a cycle, so
// that all have had work 2.5 times as late or later on the document's 16 (section 4.2 and Fig 7-4). On fewer processors
// doubling gains less.
func TestLoopy(t *testing.T) {
	for _, c := range []struct {
		processors, cycles int
		slower             string
	}{
		{4, 2, "1.5"}, {8, 3, "2.3"}, {16, 4, "3.6"},
	} {
		p := c.processors
		jobs := []Job{{Phases: []Phase{Loopy(4*p, 2000)}}}
		guided := sharing(p).Run(jobs).Jobs[0]
		found := slices.IndexFunc(guided.Cycles, func(c Cycle) bool { return c.Desire >= p })
		require.Equal(t, c.cycles, found+1, "P = %d", p)

		m := sharing(p)
		m.Rule = allot.Instant{}
		instant := m.Run(jobs).Jobs[0]
		for _, c := range instant.Cycles[:p-1] {
			require.Equal(t, c.Count.Allotment+1, c.Desire, "P = %d", p)
		}
		require.Equal(t, c.slower, fmt.Sprintf("%.1f", float64(instant.AllProcs)/float64(guided.AllProcs)))
		alone := Machine{Processors: p, Control: Uncontrolled}.Run(jobs).Jobs[0]
		require.Equal(t, p, alone.AllProcs, "one worker a step finds work")
	}
}

// TestGreedyBound: no job takes longer than T1/P̄ + T∞ (experiment P3, η = 0.75). On a real machine the document finds
// up to 1.9 times as long: here finding a task takes no time.
func TestGreedyBound(t *testing.T) {
	m := sharing(16)
	m.Rule = allot.WSAP{Efficiency: 750}
	for name, phases := range map[string][]Phase{
		"knary(8,3,3)": Knary(8, 3, 3),
		"knary(7,4,0)": Knary(7, 4, 0),
		"knary(8,4,2)": Knary(8, 4, 2),
		"knary(8,4,1)": Knary(8, 4, 1),
		"loopy(64)":    {Loopy(64, 2000)},
		"fib":          {Parallel(100_000)},
		"complement":   complements(16, 2000)[0].Phases,
	} {
		o := m.Run([]Job{{Phases: phases}}).Jobs[0]
		require.LessOrEqual(t, float64(o.Response()), o.GreedyBound(), name)
		require.Greater(t, float64(o.Response()), 0.5*o.GreedyBound(), name)
	}
}

// TestOversubscribed: more workers than processors have them in turn. Thieves waste theirs.
func TestOversubscribed(t *testing.T) {
	jobs := []Job{{Name: "serial", Phases: []Phase{Serial(900)}}, {Name: "parallel", Phases: []Phase{Parallel(1200)}}}
	r := Machine{Processors: 4, Control: Uncontrolled}.Run(jobs)
	require.InDelta(t, 600, r.Jobs[1].Finish, 2, "its 4 workers have 2 of 4 processors")
	require.InDelta(t, 1200, r.Jobs[0].Finish, 2, "its worker has half a processor, and then a whole one")
	require.EqualValues(t, 4, r.Jobs[0].Usage)
}

// TestManyJobs: more jobs than processors have one each.
func TestManyJobs(t *testing.T) {
	job := Job{Phases: []Phase{Parallel(300)}}
	for _, incremental := range []bool{false, true} {
		m := sharing(2)
		m.Incremental = incremental
		r := m.Run([]Job{job, job, job})
		for _, o := range r.Jobs {
			require.InDelta(t, 450, o.Finish, 1)
			require.EqualValues(t, 1, o.Usage)
			for _, c := range o.Cycles {
				require.Equal(t, 1, c.Allotment)
			}
		}
	}
}

// TestQueue: with partitions jobs wait in order of arrival, even one that would find processors.
func TestQueue(t *testing.T) {
	job := func(name string, arrival, limit int) Job {
		return Job{Name: name, Arrival: arrival, Limit: limit, Phases: []Phase{Parallel(100 * limit)}}
	}
	r := Machine{Processors: 4, Partition: 3, Control: Static}.Run([]Job{
		job("third", 12, 1), job("first", 5, 3), job("second", 10, 2),
	})
	for i, start := range []int{105, 5, 105} {
		require.Equal(t, start, r.Jobs[i].Start, r.Jobs[i].Name)
		require.Equal(t, start+100, r.Jobs[i].Finish, r.Jobs[i].Name)
	}
	require.Equal(t, float64(193+100+195)/3, r.MeanResponse())
}

// TestSignals: usage follows the allotment, by signals while workers run tasks.
func TestSignals(t *testing.T) {
	newJob := func(thieves int) *job {
		j := &job{workers: make([]worker, 6), allotment: 4}
		j.wake(4)
		for i := range 4 {
			if i >= thieves {
				j.workers[i] = worker{isAwake: true, left: 9}
			}
		}
		return j
	}
	signalled := func(j *job) (n int) {
		for _, w := range j.workers {
			if w.isSignalled {
				n++
			}
		}
		return n
	}
	follow := func(j *job, allotment, awake, signals int) {
		t.Helper()
		j.allotment = allotment
		j.adjust()
		j.sleep()
		require.Equal(t, []int{awake, signals}, []int{j.awake, signalled(j)})
	}
	j := newJob(0)
	follow(j, 2, 4, 2)
	follow(j, 2, 4, 2) // signalled once only
	follow(j, 3, 4, 1)
	follow(j, 4, 4, 0) // no worker wakes in their place
	follow(j, 6, 6, 0)

	j = newJob(0)
	follow(j, 1, 4, 3)
	for i := range j.workers {
		j.workers[i].left = 0
	}
	follow(j, 1, 1, 0)

	j = newJob(2)
	follow(j, 2, 2, 0) // the thieves have slept
	require.False(t, j.workers[0].isAwake || j.workers[1].isAwake)
	follow(j, 1, 2, 1)
}

// TestProcessControl: a job whose workers run long tasks gives processors back at the end of a task only (experiment
// O3). With a limit nobody waits.
func TestProcessControl(t *testing.T) {
	loop := Job{Phases: []Phase{Loopy(32, 1000)}}
	late := loop
	late.Arrival = 400
	most := func(limit int) (awake int) {
		a, b := loop, late
		a.Limit, b.Limit = limit, limit
		for s := sharing(16).simulate([]Job{a, b}); s.unfinished > 0; s.step() {
			sum := 0
			for _, j := range s.running {
				sum += j.awake
			}
			awake = max(awake, sum)
		}
		return awake
	}
	require.Equal(t, 24, most(0))
	require.Equal(t, 16, most(8))
}

// randomJobs returns jobs of random shapes.
func randomJobs(rng *rand.Rand) (jobs []Job) {
	for range 1 + rng.IntN(5) {
		j := Job{Arrival: rng.IntN(100), Limit: max(0, rng.IntN(12)-6), Weight: rng.IntN(4)}
		for range 1 + rng.IntN(3) {
			p := Phase{Tasks: 1 + rng.IntN(300), Grain: rng.IntN(3) * rng.IntN(10)}
			switch rng.IntN(3) {
			case 0:
				p.Width = 1 + rng.IntN(10)
			case 1:
				p.Spread = 1 + rng.IntN(3)
			}
			j.Phases = append(j.Phases, p)
		}
		jobs = append(jobs, j)
	}
	return jobs
}

// TestRandom: whatever the jobs and the machine, a step does at most as much work as there are processors, all work is
// done, and no job is faster than its work and span permit. Allotments are within the machine while there are no more
// jobs than processors.
func TestRandom(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	rules := []allot.Rule{nil, wsap, allot.Instant{}, usual}
	for range 100 {
		m := Machine{
			Processors: 1 + rng.IntN(16), Control: Control(rng.IntN(3)), Rule: rules[rng.IntN(len(rules))],
			Cycle: 1 + rng.IntN(40), Incremental: rng.IntN(2) == 0,
		}
		jobs := randomJobs(rng)
		s := m.simulate(jobs)
		left := func() (steps int) {
			for _, j := range s.jobs {
				if j.Finish == 0 {
					steps += (Job{Phases: j.Phases[j.phase:]}).Work()
					steps -= (j.Phases[j.phase].Tasks - j.toBegin) * j.Phases[j.phase].grain()
					for _, w := range j.workers {
						steps += w.left
					}
				}
			}
			return steps
		}
		before := left()
		for s.unfinished > 0 {
			s.step()
			after := left()
			require.True(t, before-m.Processors <= after && after <= before)
			before = after
			allotted, desired := 0, 0
			for _, j := range s.running {
				allotted += j.allotment
				desired += j.desire
				require.True(t, 0 <= j.awake && j.awake <= len(j.workers))
				require.True(t, j.awake > 0 || m.Control == Shared)
			}
			if m.Control == Shared {
				require.LessOrEqual(t, allotted, max(m.Processors, len(s.jobs)))
				require.LessOrEqual(t, allotted, desired)
			}
			require.Less(t, s.now, 100_000)
		}
		require.Zero(t, before)
		r := m.Run(jobs)
		for i, o := range r.Jobs {
			require.Equal(t, s.jobs[i].Finish, o.Finish)
			workers := m.Processors
			if o.Limit > 0 {
				workers = min(workers, o.Limit)
			}
			require.GreaterOrEqual(t, o.Finish-o.Start, max(o.Span(), divideUp(o.Work(), workers)))
			require.GreaterOrEqual(t, o.Start, o.Arrival)
			require.LessOrEqual(t, o.Usage, float64(workers))
		}
	}
}
