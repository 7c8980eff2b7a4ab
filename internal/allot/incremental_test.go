package allot

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// trace is Fig 5-2 of document 003, on 16 processors. A row is an event and the allotments after it, by job in order
// of arrival. Jobs are numbered from 1, as there.
var trace = []struct {
	event      string
	apply      func(dp *Incremental)
	desires    map[uint64]int // after the event
	allotments []int
	filled     []int // those of WaterFill, if they differ
}{
	{"arrival: job 1 with 4", join(4), map[uint64]int{1: 4}, []int{4}, nil},
	{"arrival: job 2 with 16", join(16), map[uint64]int{1: 4, 2: 16}, []int{4, 12}, nil},
	{"arrival: job 3 with 2", join(2), map[uint64]int{1: 4, 2: 16, 3: 2}, []int{4, 10, 2}, nil},
	{"change: job 3 to 16", func(dp *Incremental) { dp.SetDesire(2, 16) },
		map[uint64]int{1: 4, 2: 16, 3: 16}, []int{4, 6, 6}, nil},
	{"arrival: job 4 with 8", join(8), map[uint64]int{1: 4, 2: 16, 3: 16, 4: 8}, []int{4, 4, 4, 4}, nil},
	{"arrival: job 5 with 8", join(8), map[uint64]int{1: 4, 2: 16, 3: 16, 4: 8, 5: 8},
		[]int{3, 3, 3, 3, 4}, []int{3, 4, 3, 3, 3}},
	{"arrival: job 6 with 8", join(8), map[uint64]int{1: 4, 2: 16, 3: 16, 4: 8, 5: 8, 6: 8},
		[]int{2, 2, 3, 3, 3, 3}, []int{2, 3, 3, 3, 3, 2}},
	{"completion: job 2", func(dp *Incremental) { dp.Leave(1) },
		map[uint64]int{1: 4, 3: 16, 4: 8, 5: 8, 6: 8}, []int{3, 4, 3, 3, 3}, nil},
	{"completion: job 3", func(dp *Incremental) { dp.Leave(2) },
		map[uint64]int{1: 4, 4: 8, 5: 8, 6: 8}, []int{4, 4, 4, 4}, nil},
	{"completion: job 6", func(dp *Incremental) { dp.Leave(5) },
		map[uint64]int{1: 4, 4: 8, 5: 8}, []int{4, 6, 6}, nil},
}

func join(desire int) func(dp *Incremental) { return func(dp *Incremental) { dp.Join(desire) } }

// allotments returns the desires and allotments of all jobs in order of arrival.
func (d *Incremental) both() (desires, allotments []int) {
	for _, s := range d.jobs {
		desires, allotments = append(desires, s.desire), append(allotments, s.allotment)
	}
	return desires, allotments
}

func TestIncrementalTrace(t *testing.T) {
	dp := NewIncremental(16)
	for i, row := range trace {
		row.apply(dp)
		desires, allotments := dp.both()
		require.Equal(t, row.allotments, allotments, "row %d: %s", i+1, row.event)
		require.True(t, Fair(desires, allotments) && Efficient(16, desires, allotments) &&
			Conservative(desires, allotments), "row %d: %s", i+1, row.event)
	}
	require.Zero(t, dp.Free())
}

// TestWaterFillTrace: WaterFill gives the rows of the trace but two, the 6th and 7th. There the processors do not
// divide evenly, and a job has just arrived. By algorithm DP it takes processors until it has no less than its fair
// share, a real number, so that it gets one of the odd processors, whatever it lacks. WaterFill does not know who has
// just arrived: the odd ones go to the jobs that lack most. In the 8th row, the free processors go to these by
// algorithm DP, too.
func TestWaterFillTrace(t *testing.T) {
	var differ []int
	for i, row := range trace {
		var jobs []Job
		for key := range uint64(7) {
			if d, ok := row.desires[key]; ok {
				jobs = append(jobs, Job{Key: key, Desire: d})
			}
		}
		want := row.allotments
		if row.filled != nil {
			want = row.filled
			differ = append(differ, i+1)
			require.ElementsMatch(t, row.allotments, want, "the rows differ in who has the odd processors only")
		}
		require.Equal(t, want, WaterFill(16, jobs), "row %d: %s", i+1, row.event)
	}
	require.Equal(t, []int{6, 7}, differ)
}

// TestConditions has allotments like those of Fig 5-1 of document 003: 20 processors, 5 jobs. The text describes the
// first three; the figure's numbers are not in it.
func TestConditions(t *testing.T) {
	desires := []int{6, 3, 4, 5, 6}
	for _, c := range []struct {
		name                          string
		allotments                    []int
		fair, efficient, conservative bool
	}{
		{"job 4 is deprived with 2, others have more than 3", []int{6, 3, 4, 2, 5}, false, true, true},
		{"job 3 has one more than it desires", []int{4, 3, 5, 4, 4}, true, true, false},
		{"processors are free, and jobs deprived", []int{4, 3, 4, 4, 4}, true, false, true},
		{"all three hold", []int{4, 3, 4, 4, 5}, true, true, true},
	} {
		require.Equal(t, c.fair, Fair(desires, c.allotments), c.name)
		require.Equal(t, c.efficient, Efficient(20, desires, c.allotments), c.name)
		require.Equal(t, c.conservative, Conservative(desires, c.allotments), c.name)
	}
	require.True(t, Efficient(20, []int{3, 4}, []int{3, 4}), "nobody lacks the free ones")
	require.True(t, Efficient(1, []int{3, 4}, []int{1, 1}), "more jobs than processors")
	require.True(t, Fair([]int{2, 9}, []int{2, 9}), "nobody is deprived")
}

// TestIncrementalCanBeUnfair: job 2 desires ⌊40/4⌋ processors, so that the fair share of job 4 comes out as
// (40−1)/3 = 13, although (40−1−10)/2 would be 14.5.
func TestIncrementalCanBeUnfair(t *testing.T) {
	dp := NewIncremental(40)
	for _, desire := range []int{1, 10, 40, 40} {
		dp.Join(desire)
	}
	desires, allotments := dp.both()
	require.Equal(t, []int{1, 10, 16, 13}, allotments)
	require.False(t, Fair(desires, allotments))
	require.Equal(t, []int{1, 10, 15, 14}, WaterFill(40, []Job{
		{Key: 0, Desire: 1}, {Key: 1, Desire: 10}, {Key: 2, Desire: 40}, {Key: 3, Desire: 40},
	}))
}

// TestIncrementalRandom: after random events, none has more than it desires or less than one, and none is deprived
// while a processor is free. With more jobs than processors each has one.
func TestIncrementalRandom(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	fair, crowded, events := 0, 0, 0
	for range 400 {
		processors := 1 + rng.IntN(24)
		dp := NewIncremental(processors)
		var present []int
		for range 50 {
			events++
			switch event := rng.IntN(3); {
			case event == 0 || len(present) == 0:
				present = append(present, dp.Join(1+rng.IntN(2*processors)))
			case event == 1 && len(present) > rng.IntN(12):
				i := rng.IntN(len(present))
				dp.Leave(present[i])
				present = slices.Delete(present, i, i+1)
			default:
				dp.SetDesire(present[rng.IntN(len(present))], 1+rng.IntN(2*processors))
			}
			desires, allotments := dp.both()
			require.Len(t, allotments, len(present))
			used := 0
			for i, job := range present {
				require.Equal(t, allotments[i], dp.Allotment(job))
				require.Positive(t, allotments[i])
				used += allotments[i]
			}
			require.Equal(t, processors-used, dp.Free())
			require.LessOrEqual(t, used, max(processors, len(present)))
			require.True(t, Conservative(desires, allotments), "%v of %v", allotments, desires)
			require.True(t, Efficient(processors, desires, allotments), "%v of %v", allotments, desires)
			if len(present) > processors {
				crowded++
			}
			if Fair(desires, allotments) {
				fair++
			}
		}
	}
	require.Greater(t, crowded, events/100, "there were never more jobs than processors")
	require.Greater(t, fair, events*9/10)
}

func TestIncrementalMisuse(t *testing.T) {
	dp := NewIncremental(4)
	job := dp.Join(0)
	require.Equal(t, 1, dp.Allotment(job), "every job desires at least one")
	dp.SetDesire(job, -1)
	require.Equal(t, 1, dp.Allotment(job))
	dp.Leave(job)
	require.Panics(t, func() { dp.Leave(job) })
	require.Panics(t, func() { dp.SetDesire(1, 3) })
}
