package replay

import (
	"fmt"
	"strings"

	"github.com/magpie-go/magpie/cmd/wsbench/internal/bench"
	"github.com/magpie-go/magpie/cmd/wsbench/internal/virtual"
)

// fixedJobs are the jobs of Fig 7-1 with their phases, and T1 and T16 as printed, in seconds. A step is 0.1 ms. The
// shapes of fib and cholesky are not in the model: they are a serial phase and then a parallel one, with the document's
// T1 and T∞.
var fixedJobs = []struct {
	name    string
	phases  []virtual.Phase
	t1, t16 float64
}{
	{"fib(33)", serialParallel(1_899_000, 11), 189.9, 1.044},
	{"loopy(64)", []virtual.Phase{virtual.Loopy(64, 10*loopyMS)}, 279.2, 18.15},
	{"cholesky(2048,10000)", serialParallel(3_738_000, 4_843), 373.8, 11.17},
	{"knary(10,6,1)", virtual.Knary(10, 6, 1), 1386, 12.89},
}

var t16Of003 = &Experiment{
	ID: "003/fig7-1-virtual", Place: "Section 7.1.1, figure 7-1, running time",
	About: "the times of four jobs with 16 processors, in virtual time",
	Notes: "All times are virtual: those of 16 virtual processors, which all belong to the job from its begin, as in " +
		"Cilk. A step is 0.1 ms, and moving tasks takes no time. fib and cholesky are a serial phase and then a " +
		"parallel one, with the document's T1 and T∞: their shapes are not in it.",
	plan: func(p *Plan) {
		p.compute(10*computing, "003-fig7-1", func() (rows []bench.Row) {
			const processors = 16
			m := staticOn(processors)
			m.Partition = processors
			for _, j := range fixedJobs {
				o := m.Run([]virtual.Job{{Phases: j.phases}}).Jobs[0]
				rows = append(rows, newRow([]bench.Metric{
					{Name: "work", Value: float64(o.Work())}, {Name: "span", Value: float64(o.Span())},
					{Name: "time", Value: float64(o.Response())}, {Name: "all-procs", Value: float64(o.AllProcs)},
					{Name: "speedup", Value: float64(o.Work()) / float64(o.Response())},
					{Name: "printed-speedup", Value: j.t1 / j.t16},
				}, "job", j.name, "processors", itoa(processors)))
			}
			return rows
		})
	},
	figures: func(d *Data) []*Figure {
		f := chart{file: "003-fig7-1-t16", title: "T1/T16 on 16 virtual processors", yLabel: "speed-up"}.frame("bars")
		f.Y.Zero = true
		s := Series{Name: "virtual"}
		for i, j := range fixedJobs {
			f.X.Categories = append(f.X.Categories, j.name)
			s.at(i, d.median("speedup", "job=%s", j.name))
		}
		f.add(s)
		return []*Figure{f}
	},
	printed: printedT16,
	columns: []string{"job", "processors"},
	metrics: []metric{{"work", "T1, virtual s", 1e-4}, {"span", "T∞, virtual s", 1e-4}, {"time", "T16, virtual s", 1e-4},
		{"speedup", "T1/T16", 1}, {"printed-speedup", "T1/T16 as printed", 1}},
	claims: []*Claim{
		{
			ID: "003/fig7-1-virtual loopy", Place: "7.1.1, fig. 7-1",
			needs: calculated,
			Says:  "With 16 processors loopy(64), whose T1 is 279.2 s, takes 18.15 s.",
			judge: func(d *Data) Verdict {
				t := d.median("time", "job=loopy(64)") * 1e-4
				return verdict(t > 0.9*18.15 && t <= 18.15, "%.2f s in virtual time, where moving tasks takes none", t)
			},
		},
		{
			ID: "003/fig7-1-virtual others", Place: "7.1.1, fig. 7-1",
			needs: calculated,
			refuted: "16 processors are 16 times as fast as one at most. The document measured T1 with the profiler on, " +
				"which slows down the jobs that fork often, and T16 without",
			Says: "With 16 processors fib, cholesky and knary take 1.044, 11.17 and 12.89 s, with T1 of 189.9, 373.8 and " +
				"1386 s.",
			judge: func(d *Data) Verdict {
				held, found := true, []string{}
				for _, j := range fixedJobs {
					if j.name == "loopy(64)" {
						continue
					}
					t := d.median("time", "job=%s", j.name) * 1e-4
					held = held && t > 0.9*j.t16 && t < 1.1*j.t16
					found = append(found, fmt.Sprintf("%s %.2f s", j.name, t))
				}
				return verdict(held, "in virtual time: %s", strings.Join(found, ", "))
			},
		},
	},
}

// tableJobs are the numbers of jobs of fig. 6-3.
var tableJobs = []int{1, 2, 4, 8, 16}

// The three designs of Fig 6-3.
const (
	userJS = "USER-JS" // job schedulers report to a shared table and compute the allotments: chosen
	userBP = "USER-BP" // a background process computes them
	kernel = "KERNEL"  // they report to the kernel
)

var fig63Of003 = &Experiment{
	ID: "003/fig6-3", Place: "Section 6.1, figure 6-3",
	About: "what three designs of the allocation table cost, with 1 to 16 jobs on 16 virtual processors",
	Notes: virtual003 + "The document has a table of qualities, and measured only the chosen design. Here what each " +
		"design does in virtual time is counted, a cycle: accesses to the table, for each job looks at its allotment " +
		"there, writes to it, computations of the allotments, and system calls. The jobs are alternately serial and " +
		"parallel, in phases of seven cycles, and begin one after the other.",
	plan: func(p *Plan) { p.compute(10*computing, "003-fig6-3", designRows) },
	figures: func(d *Data) []*Figure {
		return []*Figure{chart{
			file: "003-fig6-3", title: "Accesses to the table, 16 virtual processors", x: "jobs", xLabel: "jobs",
			y: "accesses", yLabel: "accesses a cycle", series: "design",
		}.lines(d)}
	},
	printed: []printed{{figures: "003-fig6-3", says: "a table of qualities, without numbers"}},
	columns: []string{"jobs", "design"},
	metrics: []metric{{"accesses", "accesses to the table, a cycle", 1}, {"writes", "writes to it", 1},
		{"computations", "computations", 1}, {"calls", "system calls", 1}},
	claims: []*Claim{{
		ID: "003/fig6-3 overhead", Place: "6.1, fig. 6-3",
		needs: calculated,
		Says: "The overhead of USER-JS is low, but the table could become a hot spot; that of KERNEL is high if jobs " +
			"report to the kernel.",
		judge: func(d *Data) Verdict {
			at := func(figure, design, jobs string) float64 {
				return d.median(figure, "design=%s jobs=%s", design, jobs)
			}
			last := d.last("jobs")
			return verdict(at("accesses", userJS, last) > 4*at("accesses", userJS, "1") &&
				at("computations", userJS, last) < 0.5*at("calls", kernel, last),
				"in virtual time, a cycle: with %s jobs USER-JS has %.1f accesses (%.1f with one job), of which %.1f are "+
					"writes, and %.1f computations; KERNEL has %.1f system calls", last, at("accesses", userJS, last),
				at("accesses", userJS, "1"), at("writes", userJS, last), at("computations", userJS, last),
				at("calls", kernel, last))
		},
	}},
}

// designRows counts what the designs do: a job reports a desire at the end of each cycle. With USER-JS and USER-BP it
// writes the desire if it has changed; allotments that change are written by whom computes them, USER-JS for a changed
// desire, USER-BP once a cycle. With KERNEL each report is a system call.
func designRows() (rows []bench.Row) {
	const processors = 16
	m := sharedOn(processors)
	for _, n := range tableJobs {
		var jobs []virtual.Job
		for i := range n {
			j := virtual.Job{Arrival: i * cycle003 * 3 / 2}
			for range 5 {
				j.Phases = append(j.Phases, virtual.Serial(7*cycle003), virtual.Parallel(7*cycle003*processors/n))
			}
			jobs = append(jobs, j)
		}
		r := m.Run(jobs)
		reports, desires, allotments, last := 0, 0, 0, 0
		for _, o := range r.Jobs {
			desire, allotment := 1, 1
			for _, c := range o.Cycles {
				reports++
				if c.Desire != desire {
					desires++
				}
				if c.Allotment != allotment {
					allotments++
				}
				desire, allotment = c.Desire, c.Allotment
			}
			last = max(last, o.Finish)
		}
		cycles := float64(last) / cycle003
		row := func(design string, looks, writes, computations, calls float64) {
			rows = append(rows, newRow([]bench.Metric{
				{Name: "accesses", Value: (looks + writes) / cycles}, {Name: "writes", Value: writes / cycles},
				{Name: "computations", Value: computations / cycles}, {Name: "calls", Value: calls / cycles},
			}, "jobs", itoa(n), "design", design))
		}
		written, changed, all := float64(desires+allotments), float64(desires), float64(reports)
		row(userJS, all, written, changed, 0)
		row(userBP, all, written, cycles, 0)
		row(kernel, 0, 0, changed, all)
	}
	return rows
}
