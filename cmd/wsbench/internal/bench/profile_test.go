package bench

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/magpie-go/magpie/cmd/wsbench/internal/bench/workloads"
	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/internal/osthread"
	"github.com/magpie-go/magpie/internal/testkit"
)

// profileOf profiles a program of w with values as in "serial=2/branching=3". The result is verified.
func profileOf(t *testing.T, w *workloads.Workload, n int, values string) *ProfileFigures {
	t.Helper()
	p, err := w.Program(n, 42, valuesFor(t, w, values))
	require.NoError(t, err)
	r, err := openProfileJob(w.Name, p, 1).repeat(context.Background())
	require.NoError(t, err)
	require.Equal(t, "profile", r.Engine)
	return r.Profile
}

// nthFibonacci computes the number by definition.
func nthFibonacci(n int) float64 {
	if n < 2 {
		return float64(n)
	}
	return nthFibonacci(n-1) + nthFibonacci(n-2)
}

const (
	choleskyBlock = 8  // rows of a block of cholesky
	strassenSmall = 64 // rows below which strassen multiplies by definition
)

// compute keeps the caller compute for so many steps.
func compute(x uint64, steps int) uint64 {
	for range steps {
		x = x*6364136223846793005 + 1442695040888963407
	}
	return x
}

// TestProfileCounts compares the work and the span in units with formulas.
func TestProfileCounts(t *testing.T) {
	requireUnits := func(work, span float64, p *ProfileFigures, format string, args ...any) {
		t.Helper()
		require.Equal(t, []float64{work, span}, []float64{p.Work, p.Span}, append([]any{format}, args...)...)
		require.Positive(t, p.Strands)
	}
	// Figure 4-2 of document 003: T1 = N²+N, T∞ = 2N.
	for _, n := range []int{1, 2, 3, 10, 64} {
		p := profileOf(t, loopy, n, "iterations="+join([]int{n}))
		requireUnits(float64(n*n+n), 2*float64(n), p, "loopy, n=%d", n)
	}
	p := profileOf(t, loopy, 7, "iterations=1000")
	requireUnits(7*1000+7, 1000+7, p, "loopy")

	for n := 2; n < 15; n++ {
		calls := 2*nthFibonacci(n+1) - 1
		requireUnits(calls, float64(n), profileOf(t, fib, n, ""), "fib, n=%d", n)
	}

	// The document's trees have 10 and 11 levels. All have their ratios of branching and serial children here.
	for _, k := range []struct{ levels, branching, serial int }{
		{5, 6, 1}, {7, 4, 4}, {5, 5, 0}, {6, 3, 3}, {6, 4, 0}, {6, 4, 2}, {1, 2, 1},
	} {
		p := profileOf(t, knary, k.levels, "branching="+join([]int{k.branching})+"/serial="+join([]int{k.serial}))
		onPath := k.serial
		if k.serial < k.branching {
			onPath++
		}
		work, span := 0.0, 0.0
		for level := range k.levels {
			work += math.Pow(float64(k.branching), float64(level))
			span += math.Pow(float64(onPath), float64(level))
		}
		requireUnits(work, span, p, "knary %v", k)
	}

	// A dense matrix of 2ˡ×2ˡ blocks.
	factorize, solve, subtract := 1.0, 1.0, 1.0 // the span at level l
	for l := range 4 {
		blocks := 1 << l
		rows := choleskyBlock * blocks
		work := blocks + blocks*(blocks-1)/2 + (blocks-1)*blocks*(blocks+1)/6
		p := profileOf(t, cholesky, rows, "nonzeros="+join([]int{rows * (rows + 1) / 2}))
		requireUnits(float64(work), factorize, p, "cholesky, %d blocks", blocks)
		factorize = 2*factorize + solve + subtract
		solve = 2*solve + subtract
		subtract *= 2
	}

	for _, n := range []int{1, 63, 64, 128, 130} {
		var figures func(n int) (work, span float64)
		figures = func(n int) (work, span float64) {
			if n < strassenSmall {
				return float64(n * n * n), float64(n * n * n)
			}
			half := float64((n + 1) / 2)
			work, span = figures((n + 1) / 2)
			return 7*work + (10+8)*half*half, span + (2+8)*half*half
		}
		padded := n
		if n == 130 {
			padded = 132
		}
		work, span := figures(padded)
		requireUnits(work, span, profileOf(t, strassen, n, ""), "strassen, n=%d", n)
	}
}

// programOn is a function that is a program for teams.
type programOn func(t workloads.Team)

func (p programOn) RunOn(t workloads.Team) { p(t) }

// TestProfileTimes: calls of two, four and one steps of work, that may be at the same time, have a work of seven steps
// and a span of four. A machine that slows down during a run spoils it, so there are several attempts.
func TestProfileTimes(t *testing.T) {
	var sink uint64
	steps := []int{2, 4, 1}
	program := programOn(func(t workloads.Team) {
		t.Each(len(steps), func(_ workloads.Team, i int) { sink += compute(1, steps[i]*200_000) })
	})
	testkit.Fits(t, func() (wrong string) {
		p := &profiler{cost: gauge()}
		p.measure(program)
		require.Equal(t, 5, p.strands)
		f := p.figures()
		require.Positive(t, f.SpanNS)
		if parallelism := float64(f.WorkNS) / float64(f.SpanNS); math.Abs(parallelism-7.0/4) >= 0.1 {
			wrong = fmt.Sprintf("the parallelism is %v", parallelism)
		}
		return wrong
	})
	require.NotZero(t, sink)
}

// TestProfileNeverNegative: noise around no work is no figure below 0.
func TestProfileNeverNegative(t *testing.T) {
	p := &profiler{cost: 1e6}
	p.measure(&hollow{depth: 3})
	f := p.figures()
	require.Zero(t, f.WorkNS)
	require.Zero(t, f.SpanNS)
	for _, m := range f.metrics() {
		require.NotEqual(t, "parallelism", m.Name)
	}
}

// TestProfileWithoutCore: the time for which the thread has no core is no part of a strand.
func TestProfileWithoutCore(t *testing.T) {
	if _, err := osthread.CPU(osthread.ID()); err != nil {
		t.Skip(err)
	}
	const nap = 50 * time.Millisecond
	p := new(profiler)
	p.measure(programOn(func(t workloads.Team) {
		t.Each(2, func(workloads.Team, int) { time.Sleep(nap) })
	}))
	require.Less(t, p.work.ns, float64(nap))
}

// TestProfilerCalls: a profiler makes every call once.
func TestProfilerCalls(t *testing.T) {
	for _, n := range []int{1, 2, 100} {
		calls := make([]int, n)
		programOn(func(t workloads.Team) {
			t.Each(n, func(t workloads.Team, i int) { t.Each(1, func(workloads.Team, int) { calls[i]++ }) })
		}).RunOn(&profiler{})
		for i, c := range calls {
			require.Equal(t, 1, c, "call %d of %d", i, n)
		}
	}
}

// TestMuster: the time ends when the last worker begins a call, and there is none if a worker gets none.
func TestMuster(t *testing.T) {
	const workers = 3
	ex, err := executor.New(executor.Config{Workers: workers})
	require.NoError(t, err)
	defer func() { require.NoError(t, ex.Close()) }()
	var begun atomic.Int32
	m := newMuster(workers)
	require.NoError(t, workloads.RunOn(ex, programOn(func(t workloads.Team) {
		t.Each(workers, func(workloads.Team, int) {
			for begun.Add(1); begun.Load() < workers; {
				runtime.Gosched() // so that no worker gets two
			}
		})
	}), m.here))
	require.Positive(t, m.allProcs())
	require.LessOrEqual(t, m.allProcs(), time.Since(m.begin))

	m = newMuster(workers)
	require.NoError(t, workloads.RunOn(ex, programOn(func(t workloads.Team) {
		t.Each(1, func(workloads.Team, int) {})
	}), m.here))
	require.Zero(t, m.allProcs())
}

// TestProfileSession: magpie has the all-procs time of every repetition, and the profile comes after all engines.
func TestProfileSession(t *testing.T) {
	s, results := session(Engines()...)
	s.Workloads = []*workloads.Workload{fib, loopy}
	s.Params = map[string]string{"iterations": "1000"}
	s.Profile, s.Reps = true, 2
	require.NoError(t, s.Run(context.Background()))
	var engines []string
	for _, r := range *results {
		engines = append(engines, r.Engine)
		require.Equal(t, r.Engine == "profile", r.Profile != nil)
		require.Equal(t, r.Engine == "magpie", r.AllProcsNS > 0) // a single worker has always had work
	}
	once := []string{"magpie", "magpie", "serial", "goroutines", "profile"}
	for i, e := range engines {
		require.Equal(t, once[i%len(once)], e)
	}
	require.Len(t, engines, 2*2*len(once))

	for _, w := range workloads.All() {
		s, results := session(Engines()...)
		s.Workloads, s.Profile = []*workloads.Workload{w}, true
		if w.Profiles {
			require.NoError(t, s.validateProfile())
			continue
		}
		require.ErrorContains(t, s.validateProfile(), w.Name+" has no profile: there are those of fib, ")
		require.Empty(t, *results)
	}
	s, _ = session(Engines()...)
	s.Workloads, s.Probes, s.Profile = nil, []*Probe{idle}, true
	require.ErrorContains(t, s.validateProfile(), "idle has no profile: there are those of fib, ")
	s, _ = session(Engines()...)
	s.Workloads, s.Profile, s.Whole = []*workloads.Workload{fib}, true, true
	require.ErrorContains(t, s.validateProfile(), "leave out -whole")
}

// A wrongTeam is a fakeProgram that is wrong once a team has run it.
type wrongTeam struct{ fakeProgram }

func (w *wrongTeam) RunOn(workloads.Team) { w.done, w.wrong = true, true }

// TestMusterIsVerified: the all-procs time of a wrong result is not reported.
func TestMusterIsVerified(t *testing.T) {
	p := new(wrongTeam)
	j := openProgramJob(Engines()[0], Setting{"magpie", "adaptive", "chaselev", "private", 1, nil, false}, "fake", p, 1)
	_, err := j.repeat(context.Background())
	require.NoError(t, err)
	j.teamwork = p
	_, err = j.repeat(context.Background())
	var wrong *WrongAnswer
	require.ErrorAs(t, err, &wrong)
	require.ErrorContains(t, err, "it is wrong")
}
