package bench

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/magpie-go/magpie/cmd/wsbench/internal/bench/workloads"
	"github.com/magpie-go/magpie/cmd/wsbench/internal/input"
)

func TestParseAgain(t *testing.T) {
	a, err := ParseAgain("policy=abp+yields=each|mbws,workers=2")
	require.NoError(t, err)
	require.Equal(t, "policy=abp+yields=each|mbws,workers=2", a.String())
	for _, tt := range []struct {
		settings []string
		want     bool
	}{
		{[]string{"policy", "mbws", "workers", "2", "n", "7"}, true},
		{[]string{"policy", "abp+yields=each", "workers", "2"}, true},
		{[]string{"policy", "abp", "workers", "2"}, false},
		{[]string{"policy", "mbws", "workers", "1"}, false},
		{[]string{"policy", "mbws"}, false},
	} {
		var p Point
		for pair := range slices.Chunk(tt.settings, 2) {
			p = p.With(pair[0], pair[1])
		}
		require.Equal(t, tt.want, a.meets(p), "%v", tt.settings)
	}
	require.False(t, Again(nil).meets(Point{}), "without a condition nothing is measured again")
	for _, text := range []string{"", "abp", "policy=", "=abp", "policy=abp,", "policy=abp,,n=1"} {
		_, err := ParseAgain(text)
		var bad *input.Error
		require.ErrorAs(t, err, &bad, text)
	}
}

// again parses conditions.
func again(t *testing.T, text string) Again {
	a, err := ParseAgain(text)
	require.NoError(t, err)
	return a
}

// TestAgain: what meets the conditions is measured twice in each turn, and results of the second time say so. All kinds
// of workloads have that. Conditions that nothing meets are an error before the first measurement.
func TestAgain(t *testing.T) {
	a, b, log := fakes()
	s, results := session(a.engine(), b.engine())
	s.Axes.Workers, s.Again = []int{1, 2}, again(t, "engine=b,workers=2")
	require.NoError(t, s.Run(context.Background()))
	require.Equal(t, []string{"a1", "a2", "b1", "b2", "b2"}, (*log)[len(*log)-5:])
	require.Len(t, *results, 3*5)
	for i, r := range *results {
		require.Equal(t, i%5 == 4, r.Again)
		require.Equal(t, map[bool]string{true: "yes"}[r.Again], r.Row().Value(againName))
	}

	s, results = session(Engines()[0])
	s.Workloads = []*workloads.Workload{search, fib}
	s.Axes.Forks = s.Axes.Forks[:1]
	s.Reps, s.Axes.Queues, s.Axes.Tasks = 1, []string{"centralised", "perthread"}, []int{2, 4}
	s.Again = again(t, "queue=perthread,tasks=4")
	require.NoError(t, s.Run(context.Background()))
	require.Len(t, *results, 4+1+1)
	require.Equal(t, []bool{false, false, false, false, true, false}, areAgain(*results))
	require.Equal(t, "perthread", (*results)[4].Queue)
	require.Equal(t, 4, (*results)[4].Tasks)

	s, results = session(Engines()[0])
	s.Workloads, s.Probes = []*workloads.Workload{fib}, []*Probe{submit}
	s.Reps, s.Again = 1, again(t, "deque=chaselev,forks=private")
	require.NoError(t, s.Run(context.Background()))
	require.Equal(t, []bool{false, false, true, false, true}, areAgain(*results))

	s.Again = again(t, "deque=padws")
	var bad *input.Error
	require.ErrorAs(t, s.Run(context.Background()), &bad)
	require.EqualError(t, bad, "-again deque=padws: nothing with that is to be measured")
}

func areAgain(all []Result) (are []bool) {
	for _, r := range all {
		are = append(are, r.Again)
	}
	return are
}

// TestDequeAgain: the same of experiments with deques.
func TestDequeAgain(t *testing.T) {
	s, results := tinyDeques(possibleDeques()[:2]...)
	s.Experiments, s.Blocks = []*DequeExperiment{ownerExperiment, treeExperiment}, []int{8}
	first := s.Kinds[0].Name
	s.Again = again(t, "deque="+first+",stolen=0")
	require.NoError(t, s.Run(context.Background()))
	points := 2*2 + 1 + 2*2 // of owner, with the one again, and of tree
	require.Len(t, *results, points*s.Reps)
	for i, r := range *results {
		require.Equal(t, i < 5*s.Reps && i%5 == 4, r.Again)
		require.Equal(t, map[bool]string{true: "yes"}[r.Again], r.Row().Value(againName))
		if r.Again {
			require.Equal(t, first, r.Deque)
			require.Zero(t, r.Stolen)
		}
	}
	s.Again = again(t, "stolen=3")
	require.EqualError(t, s.Run(context.Background()), "-again stolen=3: nothing with that is to be measured")
}
