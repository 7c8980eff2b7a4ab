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

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/internal/osthread"
	"github.com/magpie-go/magpie/internal/testkit"
)

// profileOf profiles a program of w with values as in "serial=2/branching=3". The result is verified.
func profileOf(t *testing.T, w *Workload, n int, values string) *ProfileFigures {
	t.Helper()
	p, err := w.Program(n, 42, valuesFor(t, w, values))
	require.NoError(t, err)
	r, err := openProfileJob(w.Name, p, 1).repeat(context.Background())
	require.NoError(t, err)
	require.Equal(t, "profile", r.Engine)
	return r.Profile
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
		calls := 2*fibonacci[float64](n+1) - 1
		requireUnits(calls, float64(n), profileOf(t, fib, n, ""), "fib, n=%d", n)
	}

	// The document's trees have 10 and 11 levels. All have their ratios of branching and serial children here.
	for _, k := range []knaryNode{{5, 6, 1}, {7, 4, 4}, {5, 5, 0}, {6, 3, 3}, {6, 4, 0}, {6, 4, 2}, {1, 2, 1}} {
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
		rows := quadBlock * blocks
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
			if n < strassenCut {
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
type programOn func(t team)

func (p programOn) run(t team) { p(t) }

// TestProfileTimes: calls of two, four and one steps of work, that may be at the same time, have a work of seven steps
// and a span of four. A machine that slows down during a run spoils it, so there are several attempts.
func TestProfileTimes(t *testing.T) {
	var sink uint64
	steps := []int{2, 4, 1}
	program := programOn(func(t team) {
		t.each(len(steps), func(_ team, i int) { sink += grind(1, steps[i]*200_000) })
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
	p.measure(programOn(func(t team) {
		t.each(2, func(team, int) { time.Sleep(nap) })
	}))
	require.Less(t, p.work.ns, float64(nap))
}

// A waiting team counts the calls that are ready and have not begun.
type waiting struct{ now, most int }

func (w *waiting) each(n int, f func(team, int)) {
	w.now += n - 1
	w.most = max(w.most, w.now)
	f(w, 0)
	for i := 1; i < n; i++ {
		w.now--
		f(w, i)
	}
}

func (*waiting) did(int) {}

// TestLoopyHidesItsParallelism: nothing but the rest of the loop is ready, however long the loop is.
func TestLoopyHidesItsParallelism(t *testing.T) {
	for _, n := range []int{2, 3, 50} {
		p, err := loopy.Program(n, 0, valuesFor(t, loopy, "iterations=1"))
		require.NoError(t, err)
		w := new(waiting)
		p.(teamwork).run(w)
		require.Equal(t, waiting{0, 1}, *w)
	}
}

// TestTeams: every team makes every call once, with more calls than there is room for on the stack, too.
func TestTeams(t *testing.T) {
	for _, n := range []int{1, 2, fewForks + 1, fewForks + 2, 100} {
		calls := make([]atomic.Int32, n)
		program := programOn(func(t team) {
			t.did(1)
			t.each(n, func(t team, i int) {
				t.did(1)
				t.each(1, func(team, int) { calls[i].Add(1) })
			})
		})
		ex, err := executor.New(executor.Config{Workers: 3})
		require.NoError(t, err)
		program.run(inTurn{})
		program.run(onGoroutines{&spawner{most: 5}})
		program.run(&profiler{})
		require.NoError(t, runOn(ex, program, nil))
		require.NoError(t, ex.Close())
		for i := range calls {
			require.EqualValues(t, 4, calls[i].Load(), "call %d of %d", i, n)
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
	require.NoError(t, runOn(ex, programOn(func(t team) {
		t.each(workers, func(team, int) {
			for begun.Add(1); begun.Load() < workers; {
				runtime.Gosched() // so that no worker gets two
			}
		})
	}), m))
	require.Positive(t, m.allProcs())
	require.LessOrEqual(t, m.allProcs(), time.Since(m.begin))

	m = newMuster(workers)
	require.NoError(t, runOn(ex, programOn(func(t team) { t.each(1, func(team, int) {}) }), m))
	require.Zero(t, m.allProcs())
}

// TestProfileSession: magpie has the all-procs time of every repetition, and the profile comes after all engines.
func TestProfileSession(t *testing.T) {
	s, results := session(Engines()...)
	s.Workloads = []*Workload{fib, loopy}
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

	for _, w := range Workloads() {
		s, results := session(Engines()...)
		s.Workloads, s.Profile = []*Workload{w}, true
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
	s.Workloads, s.Profile, s.Whole = []*Workload{fib}, true, true
	require.ErrorContains(t, s.validateProfile(), "leave out -whole")
}

// TestMusterIsVerified: the all-procs time of a wrong result is not reported.
func TestMusterIsVerified(t *testing.T) {
	r := &recursion[int]{arg: 3, want: 2, fork: fibFork, on: func(team, int) int64 { return 7 }}
	j := openProgramJob(Engines()[0], Setting{"magpie", "adaptive", "chaselev", "private", 1, nil}, "fib", r, 1)
	_, err := j.repeat(context.Background())
	require.NoError(t, err)
	j.teamwork = r
	_, err = j.repeat(context.Background())
	var wrong *WrongAnswer
	require.ErrorAs(t, err, &wrong)
	require.ErrorContains(t, err, "the result is 7, not 2")
}

// TestGround: the formula is right for every number of steps.
func TestGround(t *testing.T) {
	for n := range 300 {
		require.Equal(t, grind(uint64(n)*12345, n), ground(uint64(n)*12345, n), "n=%d", n)
	}
}
