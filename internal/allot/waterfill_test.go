package allot

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWaterFill(t *testing.T) {
	for name, c := range map[string]struct {
		processors int
		jobs       []Job
		want       []int
	}{
		"nobody":         {4, nil, []int{}},
		"alone":          {4, []Job{{Desire: 9}}, []int{4}},
		"enough for all": {9, []Job{{Desire: 4}, {Desire: 2}}, []int{4, 2}},
		"without desire": {4, []Job{{}, {Desire: 9}, {Desire: -1, Minimum: 2}}, []int{0, 4, 0}},
		"limits":         {8, []Job{{Desire: 9, Limit: 2}, {Desire: 9}}, []int{2, 6}},
		"weights": {12,
			[]Job{{Desire: 20, Weight: 2}, {Desire: 20}, {Desire: 20, Weight: 3}}, []int{4, 2, 6}},
		"a weight and a desire": {12,
			[]Job{{Desire: 3, Weight: 9}, {Desire: 20, Weight: 2}, {Desire: 20}}, []int{3, 6, 3}},
		"at least one": {12, []Job{{Desire: 20, Weight: 1}, {Desire: 20, Weight: 1000}}, []int{1, 11}},
		"the largest weight": {12,
			[]Job{{Desire: 20, Weight: MaxWeight}, {Desire: 20, Weight: 1 << 30}}, []int{6, 6}},
		"minima":                {8, []Job{{Desire: 9, Minimum: 5}, {Desire: 9}, {Desire: 9}}, []int{5, 2, 1}},
		"a minimum not desired": {8, []Job{{Desire: 2, Minimum: 5}, {Desire: 9}}, []int{2, 6}},
		"a minimum that holds":  {9, []Job{{Desire: 9, Minimum: 2}, {Desire: 9}, {Desire: 9}}, []int{3, 3, 3}},
		"too large minima": {8,
			[]Job{{Desire: 9, Minimum: 9}, {Desire: 9, Minimum: 2}, {Desire: 9}}, []int{5, 2, 1}},
		"as many as processors": {3, []Job{{Desire: 9}, {Desire: 9}, {Desire: 1}}, []int{1, 1, 1}},
		"more than processors": {2,
			[]Job{{Desire: 9, Minimum: 2}, {Desire: 9, Weight: 7}, {Desire: 1}, {}}, []int{1, 1, 1, 0}},
		"no processors":       {0, []Job{{Desire: 9}, {Desire: 9}}, []int{1, 1}},
		"odd ones: who lacks": {8, []Job{{Desire: 4}, {Desire: 9}, {Desire: 5}}, []int{2, 3, 3}},
		"odd ones: keys": {8,
			[]Job{{Key: 2, Desire: 9}, {Key: 1, Desire: 9}, {Key: 0, Desire: 9}}, []int{2, 3, 3}},
		"absurd values": {5, []Job{
			{Desire: math.MaxInt, Weight: math.MaxInt, Minimum: math.MaxInt, Limit: math.MaxInt},
			{Key: 1, Desire: math.MaxInt, Weight: math.MinInt, Minimum: math.MinInt, Limit: math.MinInt},
			{Desire: math.MinInt},
		}, []int{4, 1, 0}},
		"beyond the machine": {3, []Job{{Key: 0, Desire: 9}, {Key: 1, Desire: 11}}, []int{1, 2}},
	} {
		require.Equal(t, c.want, WaterFill(c.processors, c.jobs), name)
	}
}

// system returns random jobs on a random machine. Many have equal desires, few weights, minima or limits.
func system(rng *rand.Rand) (processors int, jobs []Job) {
	processors = 1 + rng.IntN(32)
	fancy := rng.IntN(2) == 0
	most := 2 + rng.IntN(2*processors)
	for key := range uint64(rng.IntN(10)) {
		j := Job{Key: key, Desire: rng.IntN(most)}
		if fancy {
			j.Weight = [...]int{0, 1, 2, 3, 10, 100, 997, MaxWeight}[rng.IntN(8)]
			j.Minimum = max(0, rng.IntN(12)-6)
			j.Limit = max(0, rng.IntN(processors+12)-12)
		}
		jobs = append(jobs, j)
	}
	rng.Shuffle(len(jobs), func(a, b int) { jobs[a], jobs[b] = jobs[b], jobs[a] })
	return processors, jobs
}

// oneByOne gives the processors away one by one, as WaterFill's comment says.
func oneByOne(processors int, jobs []Job) []int {
	got, floors, wants := make([]int, len(jobs)), make([]int, len(jobs)), make([]int, len(jobs))
	free, minima := processors, 0
	for i, j := range jobs {
		wants[i] = max(0, j.Desire)
		if j.Limit > 0 {
			wants[i] = min(wants[i], j.Limit)
		}
		got[i] = min(wants[i], 1)
		floors[i] = min(wants[i], max(j.Minimum, got[i]))
		free -= got[i]
		minima += min(floors[i], processors)
	}
	give := func(wants []int) {
		for free > 0 {
			next := -1
			for i, j := range jobs {
				if got[i] >= min(wants[i], processors) {
					continue
				}
				if next < 0 {
					next = i
					continue
				}
				mine, other := (got[i]+1)*max(jobs[next].Weight, 1), (got[next]+1)*max(j.Weight, 1)
				lack, lacks := wants[i]-got[i], wants[next]-got[next]
				if mine < other || mine == other && (lack > lacks || lack == lacks && j.Key < jobs[next].Key) {
					next = i
				}
			}
			if next < 0 {
				return
			}
			got[next]++
			free--
		}
	}
	switch {
	case free <= 0:
	case minima > processors:
		for i := range floors {
			floors[i] = min(floors[i], processors)
		}
		give(floors)
	default:
		for i, f := range floors {
			f = min(f, processors)
			free -= f - got[i]
			got[i] = f
		}
		give(wants)
	}
	return got
}

// TestWaterFillRandom checks a hundred thousand random systems against the conditions, and against oneByOne.
func TestWaterFillRandom(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	var crowded, plainly, weighted int
	for range 100_000 {
		processors, jobs := system(rng)
		got := WaterFill(processors, jobs)
		if want := oneByOne(processors, jobs); !slices.Equal(want, got) {
			t.Fatalf("on %d processors %+v have %v, not %v", processors, jobs, got, want)
		}
		desires, present, used, isPlain := make([]int, len(jobs)), 0, 0, true
		for i, j := range jobs {
			isPlain = isPlain && j == Job{Key: j.Key, Desire: j.Desire}
			desires[i] = j.Desire
			if j.Limit > 0 {
				desires[i] = min(desires[i], j.Limit)
			}
			if desires[i] > 0 {
				present++
			}
			used += got[i]
			if got[i] < min(desires[i], 1) {
				t.Fatalf("on %d processors %+v have %v: one has none", processors, jobs, got)
			}
		}
		if present > processors {
			crowded++
			require.Equal(t, present, used)
		} else if used > processors {
			t.Fatalf("on %d processors %+v have %v", processors, jobs, got)
		}
		if !Efficient(processors, desires, got) || !Conservative(desires, got) || isPlain && !Fair(desires, got) {
			t.Fatalf("on %d processors %+v have %v", processors, jobs, got)
		}
		if isPlain {
			plainly++
		} else if isFairByWeight(t, processors, jobs, desires, got) {
			weighted++
		}
	}
	require.Greater(t, crowded, 1000)
	require.Greater(t, plainly, 1000)
	require.Greater(t, weighted, 1000)
}

// isFairByWeight fails if a job has a processor, beyond its minimum, that a deprived job should have: for its weight,
// the deprived job with one more would have less. It returns false if there is nothing to compare.
func isFairByWeight(t *testing.T, processors int, jobs []Job, desires, got []int) (compared bool) {
	minima := 0
	for i, j := range jobs {
		minima += min(max(j.Minimum, 1), desires[i], processors)
	}
	if minima > processors {
		return false
	}
	for j := range jobs {
		if got[j] >= desires[j] {
			continue
		}
		for i := range jobs {
			if got[i] <= min(max(jobs[i].Minimum, 1), desires[i]) || i == j {
				continue
			}
			compared = true
			if got[i]*max(jobs[j].Weight, 1) > (got[j]+1)*max(jobs[i].Weight, 1) {
				t.Fatalf("on %d processors %+v have %v: job %d has one that is job %d's", processors, jobs, got, i, j)
			}
		}
	}
	return compared
}

// TestWaterFillOrder: the order of the jobs does not matter.
func TestWaterFillOrder(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for range 20_000 {
		processors, jobs := system(rng)
		got := WaterFill(processors, jobs)
		order := rng.Perm(len(jobs))
		shuffled := make([]Job, len(jobs))
		for i, o := range order {
			shuffled[i] = jobs[o]
		}
		for i, a := range WaterFill(processors, shuffled) {
			if a != got[order[i]] {
				t.Fatalf("on %d processors %+v have %v; in the order %v, job %d has %d",
					processors, jobs, got, order, order[i], a)
			}
		}
	}
}

// TestWaterFillOneMore: one more processor goes to one job, and takes none from any, whatever the minima are. So a
// machine that grows or shrinks moves as few processors as possible.
func TestWaterFillOneMore(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	for range 20_000 {
		processors, jobs := system(rng)
		before, after := WaterFill(processors, jobs), WaterFill(processors+1, jobs)
		more := 0
		for i := range jobs {
			more += after[i] - before[i]
			if after[i] < before[i] || more > 1 {
				t.Fatalf("%+v have %v on %d processors, and %v on one more", jobs, before, processors, after)
			}
		}
	}
}

func BenchmarkWaterFill(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 2))
	var jobs []Job
	for key := range uint64(64) {
		jobs = append(jobs, Job{Key: key, Desire: 1 + rng.IntN(40), Weight: 1 + rng.IntN(3), Minimum: rng.IntN(3)})
	}
	b.ReportAllocs()
	for b.Loop() {
		WaterFill(256, jobs)
	}
}
