package bench

import (
	"context"
	"math"
	"slices"
	"time"

	"github.com/magpie-go/magpie/cmd/wsbench/internal/bench/workloads"
	"github.com/magpie-go/magpie/cmd/wsbench/internal/input"
	"github.com/magpie-go/magpie/internal/osthread"
)

// A profiler is a team that measures the work and the span of a program, as the profiler of Cilk did for document 003.
// It makes one call after the other, and times each strand: the code between two points at which the program forks or
// joins. The work is the sum of all strands. The span, or critical path, is that of the strands that no number of
// workers can run at the same time: of calls that may be at the same time, it has the one with the longest span.
//
// A second pair of figures is in the units of work that the program has counted with [team.did]. It is exact.
//
// A look at the clock takes longer than a strand of fib. So [gauge] measures what a strand without code takes, and that
// is taken off each. What remains of it is noise, which evens out in the work of many strands and does not in the span,
// a maximum. The time for which the thread has no core is taken off the strand in which that happens, where the thread
// has a clock of its processor time: the loss of a core can take longer than the whole span. Time that the garbage
// collector takes from the thread remains.
type profiler struct {
	cost float64 // of measuring a strand, in ns

	work    extent
	path    extent // the longest path to here
	strands int
	begun   time.Time // the strand

	thread int64         // the ID of the thread; 0 if it has no clock of its processor time
	origin time.Time     // when the measurement began
	cpu    time.Duration // the processor time of the thread at origin
	away   time.Duration // since origin, the time without a core that has been taken off
}

// longStrand is the length of a strand from which on the profiler looks whether the thread has lost its core, which
// takes a system call. A loss is hardly shorter: it is another thread's turn. The number is arbitrary.
const longStrand = 10 * time.Microsecond

// An extent is a length of time, and the units of work in it.
type extent struct{ ns, units float64 }

// longer returns the larger time and the larger number of units. They can be those of different paths.
func (e extent) longer(other extent) extent {
	return extent{max(e.ns, other.ns), max(e.units, other.units)}
}

func (p *profiler) Each(n int, f func(workloads.Team, int)) {
	p.end()
	fork := p.path
	longest := fork
	for i := range n {
		p.path = fork
		p.start()
		f(p, i)
		p.end()
		longest = longest.longer(p.path)
	}
	p.path = longest
	p.start()
}

func (p *profiler) Did(units int) {
	p.work.units += float64(units)
	p.path.units += float64(units)
}

// start begins a strand.
func (p *profiler) start() { p.begun = time.Now() }

// end ends the strand.
func (p *profiler) end() {
	took := time.Since(p.begun)
	if took >= longStrand && p.thread != 0 {
		took -= p.withoutCore(took)
	}
	ns := float64(took) - p.cost
	p.work.ns += ns
	p.path.ns += ns
	p.strands++
}

// withoutCore returns for how long the thread had no core in a strand that took so long and ends now.
func (p *profiler) withoutCore(took time.Duration) time.Duration {
	cpu, err := osthread.CPU(p.thread)
	if err != nil {
		return 0
	}
	away := time.Since(p.origin) - (cpu - p.cpu)
	lost := min(max(0, away-p.away), took)
	p.away = max(p.away, away)
	return lost
}

// measure runs w.
func (p *profiler) measure(w workloads.Teamwork) {
	osthread.Lock()
	defer osthread.Unlock()
	p.origin = time.Now()
	p.thread = osthread.ID()
	var err error
	if p.cpu, err = osthread.CPU(p.thread); err != nil {
		p.thread = 0
	}
	p.start()
	w.RunOn(p)
	p.end()
}

// figures returns the work and the span. Noise below 0, in a program without work, is 0.
func (p *profiler) figures() *ProfileFigures {
	ns := func(x float64) int64 { return int64(math.Round(max(0, x))) }
	return &ProfileFigures{
		WorkNS: ns(p.work.ns), SpanNS: ns(p.path.ns),
		Work: p.work.units, Span: p.path.units, Strands: p.strands,
	}
}

// gauge measures what it costs to measure a strand, in ns, by strands without code. It is measured before each profile:
// a core is slower when its twin is busy.
func gauge() float64 {
	const rounds, depth = 9, 12 // arbitrary
	var means []float64
	for range rounds {
		p := new(profiler)
		p.measure(&hollow{depth: depth})
		means = append(means, p.work.ns/float64(p.strands))
	}
	slices.Sort(means)
	return max(0, means[rounds/2])
}

// hollow is a binary tree of calls that fork as fib does, and do nothing else.
type hollow struct{ depth, leaves int }

func (h *hollow) RunOn(t workloads.Team) { h.leaves = leaves(t, h.depth) }

func leaves(t workloads.Team, depth int) int {
	if depth == 0 {
		return 1
	}
	var n [2]int
	t.Each(2, func(t workloads.Team, i int) { n[i] = leaves(t, depth-1) })
	return n[0] + n[1]
}

// ProfileFigures are the work and the span of a program.
type ProfileFigures struct {
	WorkNS int64 `json:"work_ns"` // T1 of document 003
	SpanNS int64 `json:"span_ns"` // T∞

	// Work and Span are the same in the program's own units. They count calls of fib, iterations and spawns of loopy,
	// nodes of knary, operations with blocks of cholesky, and multiplications, and additions of quarters, of strassen.
	Work float64 `json:"work"`
	Span float64 `json:"span"`

	Strands int `json:"strands"` // the number of strands that were timed
}

func (p *ProfileFigures) metrics() []Metric {
	all := []Metric{
		{"work-ns", float64(p.WorkNS)},
		{"span-ns", float64(p.SpanNS)},
		{"work-units", p.Work},
		{"span-units", p.Span},
		{"parallelism-units", p.Work / p.Span},
	}
	if p.SpanNS > 0 {
		all = append(all, Metric{"parallelism", float64(p.WorkNS) / float64(p.SpanNS)})
	}
	return all
}

// profileColumns are columns of the table of runs.
var profileColumns = []textColumn{
	figureColumn("work", "work-ns", wall),
	figureColumn("span", "span-ns", wall),
	figureColumn("parallelism", "parallelism", Significant),
	figureColumn("in units", "parallelism-units", Significant),
	figureColumn("all procs", "all-procs-ns", wall),
}

// profileName is the Engine of results that have [ProfileFigures].
const profileName = "profile"

// profileRunner runs a program on a profiler.
type profileRunner struct {
	program workloads.Teamwork
	p       *profiler
}

// openProfileJob prepares the profile of a program, which has the given number of tasks.
func openProfileJob(workload string, p workloads.Program, tasks int) *job {
	open := func() *profileRunner { return &profileRunner{program: p.(workloads.Teamwork)} }
	return &job{workload: workload, setting: Setting{profileName, None, None, None, 1, nil, false}, data: p, tasks: tasks,
		program: true, runner: open(), open: func() (Runner, error) { return open(), nil },
	}
}

func (r *profileRunner) Start() error {
	r.p = &profiler{cost: gauge()}
	return nil
}

func (r *profileRunner) Run(context.Context) error {
	r.p.measure(r.program)
	return nil
}

func (r *profileRunner) Counts() Counts { return Counts{} }

func (r *profileRunner) Stop() error { return nil }

// validateProfile returns an error if a profile is asked for that cannot be made.
func (s *Session) validateProfile() error {
	if !s.Profile && !s.AllProcs {
		return nil
	}
	for _, w := range s.Workloads {
		if !w.Profiles {
			return input.Errorf("%s has no profile: there are those of %s", w.Name, profiledNames())
		}
	}
	if len(s.Probes) > 0 {
		return input.Errorf("%s has no profile: there are those of %s", s.Probes[0].Name, profiledNames())
	}
	if s.Whole {
		return input.Errorf("a profile is of the program alone: leave out -whole")
	}
	return nil
}

// Profiled lists the workloads that have a profile.
func Profiled() (all []*workloads.Workload) {
	for _, w := range workloads.All() {
		if w.Profiles {
			all = append(all, w)
		}
	}
	return all
}

func profiledNames() string {
	var names []string
	for _, w := range Profiled() {
		names = append(names, w.Name)
	}
	return join(names)
}
