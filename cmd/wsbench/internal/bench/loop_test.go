package bench

import (
	"context"
	"errors"
	"testing"

	"github.com/magpie-go/magpie/cmd/wsbench/internal/bench/workloads"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/require"
)

// TestLoop: a loop prepares before it begins, and repeats until it is told to end, on one executor or on several.
func TestLoop(t *testing.T) {
	for i, w := range []*workloads.Workload{chain, fib, sleepLinear, chain, fib} {
		s, results := session(Engines()[0])
		s.Workloads, s.N, s.Axes.Forks, s.Keep = []*workloads.Workload{w}, 10, bothForks[:1], i >= 3
		begun, left := false, 3
		require.NoError(t, s.Loop(context.Background(), func() error {
			begun = true
			require.Empty(t, *results, "measured before it began")
			return nil
		}, func() bool {
			require.True(t, begun)
			require.Len(t, *results, 3-left, "results come late")
			left--
			return left >= 0
		}))
		require.Len(t, *results, 3)
		for i, r := range *results {
			require.True(t, r.Verified)
			require.Equal(t, i+1, r.Rep)
			require.Equal(t, 10, r.N)
			if w == chain {
				require.Equal(t, 10, r.Tasks, "also counts those of others")
			}
			require.Equal(t, w == chain, r.BuildNS > 0)
		}
	}
}

func TestLoopInput(t *testing.T) {
	for want, change := range map[string]func(*Session){
		"a loop repeats one workload, and 2 are to run": func(s *Session) { s.Workloads = []*workloads.Workload{chain, fib} },
		"a loop repeats one workload, and 0 are to run": func(s *Session) { s.Workloads = nil },
		"and there are 2 settings":                      func(s *Session) { s.Axes.Workers = []int{1, 2} },
		"size must be at least 1":                       func(s *Session) { s.N = -1 },
	} {
		s, results := session(Engines()[0])
		s.Workloads, s.N = []*workloads.Workload{chain}, 10
		change(s)
		never := func() error { t.Error("it began"); return nil }
		err := s.Loop(context.Background(), never, func() bool { return false })
		require.ErrorContains(t, err, want)
		require.Empty(t, *results)
	}
	s, _ := session(Engines()[0])
	s.Workloads, s.N = []*workloads.Workload{chain}, 10
	broken := errors.New("broken")
	require.ErrorIs(t, s.Loop(context.Background(), func() error { return broken }, func() bool { return true }),
		broken)
}

// TestWhole: the window is larger than the run alone, for it has the building of the graph.
func TestWhole(t *testing.T) {
	for _, whole := range []bool{false, true} {
		s, results := session(Engines()...)
		s.Workloads, s.N, s.Reps, s.Whole = []*workloads.Workload{chain, fib}, 20, 1, whole
		require.NoError(t, s.Run(context.Background()))
		for _, r := range *results {
			require.Equal(t, whole, r.Whole)
			require.True(t, r.Verified)
			if r.Workload == "chain" {
				require.EqualValues(t, 20, r.Tasks)
			}
		}
	}
	s, results := session(Engines()[0])
	s.Workloads, s.N, s.Reps, s.Whole = []*workloads.Workload{chain}, 200000, 1, true
	require.NoError(t, s.Run(context.Background()))
	r := (*results)[0]
	require.Greater(t, r.WallNS, int64(200000), "a task cannot be built within a nanosecond")
}

// TestActive: active workers are counted if it is asked for, and by the executor only.
func TestActive(t *testing.T) {
	once := func(active bool) (wrong string) {
		wrong = "nobody looked"
		s, results := session(Engines()[:2]...)
		s.Workloads, s.N, s.Reps, s.Active = []*workloads.Workload{fib}, 28, 1, active
		require.NoError(t, s.Run(context.Background()))
		for _, r := range *results {
			mean, ok := r.Row().Figure("active")
			if !active || r.Engine != "magpie" {
				require.False(t, ok, "%s", r.Engine)
				continue
			}
			if !ok || mean == 0 {
				continue // a busy machine left no time to look
			}
			wrong = ""
			const spares = 256 // which stand in for workers that a busy machine has put to sleep
			require.LessOrEqual(t, mean, float64(r.Workers+spares))
			require.Len(t, r.Active, activityBins)
			last, ok := r.Row().Figure("active@95")
			require.True(t, ok)
			require.Equal(t, r.Active[19], last)
		}
		return wrong
	}
	require.Equal(t, "nobody looked", once(false))
	testkit.Fits(t, func() string { return once(true) })
	s, _ := session(Engines()[0])
	s.Workloads, s.Active, s.Whole = []*workloads.Workload{chain}, true, true
	require.ErrorContains(t, s.Run(context.Background()), "not with -whole")
}

// TestTimeline: a part without a sample has the number of the sample before.
func TestTimeline(t *testing.T) {
	all := timeline{{10, 4}, {20, 2}, {30, 3}, {90, 1}}
	require.Equal(t, []float64{0, 4, 2.5, 3, 1},
		[]float64{all.mean(0, 10), all.mean(10, 20), all.mean(20, 40), all.mean(40, 80), all.mean(80, 100)})
}
