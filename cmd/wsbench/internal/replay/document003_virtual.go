package replay

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/magpie-go/magpie/cmd/wsbench/internal/bench"
	"github.com/magpie-go/magpie/cmd/wsbench/internal/virtual"
	"github.com/magpie-go/magpie/internal/allot"
)

// length003 is the time in steps of a job of P1, and of a phase of P2: 100 cycles.
const length003 = 100 * cycle003

var p1Of003 = &Experiment{
	ID: "003/p1", Place: "Section 7.2.1, experiment P1, figure 7-8",
	About: "three jobs of half the machine, the third at 0 or at T/2, on 4, 8 and 16 virtual processors",
	Notes: virtual003 + "T is the time of a job on half of the processors; half is T/2. " +
		"On 8 processors one of three jobs has 2, and the theory's gain is 1.2.",
	plan: func(p *Plan) {
		p.compute(computing, "003-p1", func() (rows []bench.Row) {
			for _, processors := range virtualProcessors {
				for _, a := range arrivals {
					for _, c := range controls003 {
						jobs := arrival003(processors, length003, a.at(length003))
						rows = append(rows, newRow(performance(c.machine(processors).Run(jobs), length003),
							"processors", itoa(processors), "t", a.name, "control", c.name))
					}
				}
			}
			return rows
		})
	},
	figures: func(d *Data) (all []*Figure) {
		for _, a := range arrivals {
			for _, m := range performanceMetrics {
				all = append(all, chart{
					file: "003-p1-" + a.name + "-" + m.figure, title: "Scenario (a), t = " + a.text + ": " + m.figure,
					x: "processors", xLabel: "virtual processors", y: m.figure, yLabel: m.heading, series: "control",
				}.bars(d.where("t=%s", a.name)))
			}
		}
		return all
	},
	printed: printedP1,
	columns: []string{"processors", "t", "control"},
	metrics: performanceMetrics,
	claims: []*Claim{
		arrivalClaim("response", "The mean response is longer with Cilk-AP: 1.102 times for t = 0, and 1.069 for t = T/2; "+
			"theory 1.125 and 1.071.", func(x float64) bool { return x > 1 && x < 1.15 }),
		arrivalClaim("throughput", "The throughput is higher: 1.366 times for t = 0, and 1.082 for t = T/2; theory 1.333 "+
			"and 1.143.", func(x float64) bool { return x > 1.05 }),
		arrivalClaim("power", "The power is higher: 1.239 times for t = 0, and 1.012 for t = T/2; theory 1.185 and 1.067.",
			func(x float64) bool { return x > 1 }),
	},
}

// arrivalClaim judges the ratios of a figure to that of static partitions, all of which are to be ok.
func arrivalClaim(figure, says string, ok func(float64) bool) *Claim {
	return &Claim{
		ID: "003/p1 " + figure, Place: "7.2.1, fig. 7-8", Says: says,
		needs: calculated,
		judge: func(d *Data) Verdict {
			held, found := true, []string{}
			for _, a := range arrivals {
				for _, p := range d.values("processors") {
					x := d.overStatic(figure, shared003, "processors=%s t=%s", p, a.name)
					held = held && ok(x)
					found = append(found, fmt.Sprintf("%.3f with %s, t = %s", x, p, a.text))
				}
			}
			return verdict(held, "on virtual processors: %s", strings.Join(found, "; "))
		},
	}
}

// tenths returns a percentage, without a sign if it is almost 0.
func tenths(x float64) string { return fmt.Sprintf("%.1f %%", math.Round(10*x)/10+0) }

// complementProcessors are the sizes of the machine of P2.
var complementProcessors = []int{2, 4, 8, 16}

var p2Of003 = &Experiment{
	ID: "003/p2", Place: "Section 7.2.2, experiment P2, figure 7-9",
	About: "two jobs of which one is serial while the other is parallel, on 2 to 16 virtual processors",
	Notes: virtual003 + "T1/T∞ is the document's, 13.68 on 16 processors, so that the parallel phase has 12.68 times " +
		"the work of the serial one; on fewer processors it has less in proportion. T is the time of a serial phase.",
	plan: func(p *Plan) {
		p.compute(computing, "003-p2", func() (rows []bench.Row) {
			for _, processors := range complementProcessors {
				for _, c := range controls003 {
					r := c.machine(processors).Run(phases003(processors, length003))
					rows = append(rows, newRow(append(performance(r, length003),
						bench.Metric{Name: "usage-a", Value: r.Jobs[0].Usage},
						bench.Metric{Name: "usage-b", Value: r.Jobs[1].Usage},
					), "processors", itoa(processors), "control", c.name))
				}
			}
			return rows
		})
	},
	figures: func(d *Data) []*Figure {
		return []*Figure{chart{
			file: "003-p2", title: "Scenario (b): mean response", x: "processors", xLabel: "virtual processors",
			y: "response", yLabel: "mean response, T", series: "control",
		}.bars(d)}
	},
	printed: printedP2,
	columns: []string{"processors", "control"},
	metrics: append(slices.Clone(performanceMetrics), metric{"usage-a", "usage of A", 1},
		metric{"usage-b", "usage of B", 1}),
	claims: []*Claim{
		{
			ID: "003/p2 response", Place: "7.2.2, fig. 7-9",
			needs: calculated, refuted: "by the document's own figures a job has a serial phase of 12.1 s and a parallel " +
				"one of 154 s of work, and a serial phase keeps 3.7 processors (fig. 7-10, with the higher η): with " +
				"the others the response is 24.6 s at least, 21 % less",
			Says: "On 16 processors the mean response is 22.12 s, and 31.33 s with static partitions: 29 % less.",
			judge: func(d *Data) Verdict {
				gains := func(control string) (last float64, all []string) {
					for _, p := range d.values("processors") {
						last = 100 * (1 - d.overStatic("response", control, "processors=%s", p))
						all = append(all, fmt.Sprintf("%s with %s", tenths(last), p))
					}
					return last, all
				}
				_, known := gains(known003)
				last, shared := gains(shared003)
				return verdict(last > 25, "on virtual processors: %s less; with known desires %s. A serial phase keeps 3 to 6 "+
					"processors: its thieves are few, and meet a victim that works", strings.Join(shared, ", "),
					strings.Join(known, ", "))
			},
		},
		{
			ID: "003/p2 usage", Place: "7.2.2, fig. 7-9",
			needs: calculated, refuted: "with 16 processors each job takes 21.7 s at least, so that by the mean of 22.12 s " +
				"both end within 0.8 s: they have 16.6 processors together at most, not 18.03",
			Says: "Jobs A and B use 8.275 and 9.756 of 16 processors on average, more than the 8 of static " +
				"partitions.",
			judge: func(d *Data) Verdict {
				at := d.where("processors=16 control=%s", shared003)
				a, b := at.stat("usage-a").Median, at.stat("usage-b").Median
				return verdict(min(a, b) > 8, "on virtual processors: %.2f and %.2f", a, b)
			},
		},
	},
}

// loopyMS is how long a subcomputation of loopy takes in the document, where est_cycle is 5 ms.
const loopyMS = 4360

var o3Of003 = &Experiment{
	ID: "003/o3", Place: "Section 7.1.3, experiment O3, figure 7-6",
	About: "two loops with subcomputations of seconds, the second when the first has all processors, with and without " +
		"a limit",
	Notes: virtual003 + "The loops have as many subcomputations as processors, or two or four times as many, of 4.36 s " +
		"as in the document; a step is 1 ms. The limit is half of the processors. Half of the machine is a job's with " +
		"static partitions.",
	plan: func(p *Plan) {
		p.compute(computing, "003-o3", processControlRows)
	},
	figures: func(d *Data) []*Figure {
		return []*Figure{chart{
			file: "003-o3", title: "Two loops, 16 virtual processors", x: "loop", xLabel: "subcomputations", y: "response",
			yLabel: "mean response, times that of one subcomputation", series: "control",
		}.bars(d.where("processors=16"))}
	},
	printed: printedO3,
	columns: []string{"processors", "loop", "control"},
	metrics: []metric{{"response", "mean response, subcomputations", 1}, {"first", "of the first", 1},
		{"second", "of the second", 1}},
	claims: []*Claim{
		{
			ID: "003/o3 overhead", Place: "7.1.3, fig. 7-6",
			needs: calculated,
			Says: "Process control costs 36.26 % with loopy(16), 10.47 % with loopy(32) and 4.078 % with loopy(64): it " +
				"falls with the length of the jobs.",
			judge: func(d *Data) Verdict {
				var found []string
				for _, p := range d.values("processors") {
					var all []string
					for _, loop := range d.where("processors=%s", p).values("loop") {
						over := 100 * (d.overStatic("response", shared003, "processors=%s loop=%s", p, loop) - 1)
						all = append(all, fmt.Sprintf("%s with loopy(%s)", tenths(over), loop))
					}
					found = append(found, p+" processors: "+strings.Join(all, ", "))
				}
				return cannotShow("on virtual processors: "+strings.Join(found, "; ")+". What the second job loses "+
					"by workers that do not sleep yet, the first gains",
					"real processors, where workers beyond the processors cost switches")
			},
		},
		{
			ID: "003/o3 limit", Place: "7.1.3, fig. 7-6",
			needs: calculated,
			Says:  "With a limit of P/2 processors a job there is no overhead.",
			judge: func(d *Data) Verdict {
				most := math.Inf(-1)
				for _, p := range d.values("processors") {
					for _, loop := range d.where("processors=%s", p).values("loop") {
						most = math.Max(most, 100*(d.overStatic("response", limited003, "processors=%s loop=%s", p, loop)-1))
					}
				}
				return verdict(most < 1, "on virtual processors: %.2f %% at most", most)
			},
		},
	},
}

// limited003 is WSAP with a limit of half of the processors.
const limited003 = "WSAP-limit"

func processControlRows() (rows []bench.Row) {
	for _, processors := range virtualProcessors {
		shared := sharedOn(processors)
		shared.Cycle = 5
		for _, times := range []int{1, 2, 4} {
			loop := virtual.Job{Phases: []virtual.Phase{virtual.Loopy(times*processors, loopyMS)}}
			late := loop
			late.Arrival = shared.Run([]virtual.Job{loop}).Jobs[0].AllProcs
			for _, c := range []struct {
				name    string
				machine virtual.Machine
				limit   int
			}{
				{static003, staticOn(processors), processors / 2},
				{shared003, shared, 0},
				{limited003, shared, processors / 2},
			} {
				first, second := loop, late
				first.Limit, second.Limit = c.limit, c.limit
				r := c.machine.Run([]virtual.Job{first, second})
				rows = append(rows, newRow([]bench.Metric{
					{Name: "response", Value: r.MeanResponse() / loopyMS},
					{Name: "first", Value: float64(r.Jobs[0].Response()) / loopyMS},
					{Name: "second", Value: float64(r.Jobs[1].Response()) / loopyMS},
				},
					"processors", itoa(processors), "loop", itoa(times*processors), "control", c.name))
			}
		}
	}
	return rows
}

// instant003 is the rule by which the ready threads are the desire.
const instant003 = "INST"

const stepsPerMS = 10 // in fig. 7-4

var fig74Of003 = &Experiment{
	ID: "003/fig7-4", Place: "Sections 4.2 and 7.1.1, figure 7-4",
	About: "the time until all workers of a loop have had work, by desires from steal attempts and from ready threads",
	Notes: virtual003 + "A millisecond is ten steps, and the loop spawns a subcomputation a step, twice as many as " +
		"processors. Cycles are swept on 16 processors, and 5 ms elsewhere.",
	plan: func(p *Plan) { p.compute(computing, "003-fig7-4", instantRows) },
	figures: func(d *Data) []*Figure {
		return []*Figure{chart{
			file: "003-fig7-4", title: "All-procs time of loopy, 16 virtual processors", x: "cycle", xLabel: "est_cycle, ms",
			y: "all-procs-ms", yLabel: "ms", series: "rule", log: true, logX: true,
		}.lines(d.where("processors=16"))}
	},
	printed: printedFig74,
	columns: []string{"processors", "cycle", "rule"},
	metrics: []metric{{"all-procs-ms", "all-procs time, ms", 1}, {"cycles", "cycles", 1},
		{"above-allotment", "desire above allotment, most", 1}},
	claims: []*Claim{
		{
			ID: "003/fig7-4 slower", Place: "7.1.1, fig. 7-4",
			needs: calculated,
			Says: "On 16 processors all workers have had work over 2.5 times later with desires from ready threads, at every " +
				"interval.",
			judge: func(d *Data) Verdict {
				held, swept, others := true, []string{}, []string{}
				for _, p := range d.values("processors") {
					for _, cycle := range d.where("processors=%s", p).values("cycle") {
						at := d.where("processors=%s cycle=%s", p, cycle)
						x := at.median("all-procs-ms", "rule=%s", instant003) / at.median("all-procs-ms", "rule=%s", shared003)
						if p == "16" {
							held = held && x > 2.5
							swept = append(swept, fmt.Sprintf("%.1f× at %s ms", x, cycle))
						} else {
							others = append(others, fmt.Sprintf("%.1f× with %s", x, p))
						}
					}
				}
				return verdict(held, "on 16 virtual processors: %s; at 5 ms: %s, where desires have less far to grow",
					strings.Join(swept, ", "), strings.Join(others, ", "))
			},
		},
		{
			ID: "003/fig7-4 parallelism", Place: "4.2",
			needs: calculated,
			Says:  "A loop has one ready thread more than processors at any time, however many would find work.",
			judge: func(d *Data) Verdict {
				s := d.where("rule=%s", instant003).stat("above-allotment")
				return verdict(s.Least == 1 && s.Most == 1, "desire less allotment until it has all processors: %g to %g",
					s.Least, s.Most)
			},
		},
	},
}

func instantRows() (rows []bench.Row) {
	for _, processors := range virtualProcessors {
		cycles := []int{5}
		if processors == 16 {
			cycles = []int{1, 2, 5, 10, 25, 50, 100}
		}
		for _, cycle := range cycles {
			for _, rule := range []struct {
				name string
				rule allot.Rule
			}{{shared003, allot.WSAP{Efficiency: 500}}, {instant003, allot.Instant{}}} {
				m := sharedOn(processors)
				m.Rule, m.Cycle = rule.rule, cycle*stepsPerMS
				o := m.Run([]virtual.Job{{Phases: []virtual.Phase{virtual.Loopy(2*processors, loopyMS*stepsPerMS/4)}}}).Jobs[0]
				above := 0
				for _, c := range o.Cycles[:min(processors-1, len(o.Cycles))] {
					above = max(above, c.Desire-c.Count.Allotment)
				}
				rows = append(rows, newRow([]bench.Metric{
					{Name: "all-procs-ms", Value: float64(o.AllProcs) / stepsPerMS},
					{Name: "cycles", Value: float64(o.AllProcs) / float64(m.Cycle)},
					{Name: "above-allotment", Value: float64(above)},
				}, "processors", itoa(processors), "cycle", itoa(cycle), "rule", rule.name))
			}
		}
	}
	return rows
}

// greedyJobs are the seven jobs of Fig 7-10. A step is 0.1 ms: the document's trees take about that for a node. Those
// whose shape the model does not have are a serial phase and then a parallel one, with the document's T1 and T∞.
var greedyJobs = []struct {
	name   string
	phases []virtual.Phase
	mean   int // the document's ⌈P̄⌉
}{
	{"knary(11,3,3)", virtual.Knary(11, 3, 3), 4},
	{"knary(11,4,0)", virtual.Knary(11, 4, 0), 16},
	{"knary(10,4,2)", virtual.Knary(10, 4, 2), 12},
	{"strassen(1024)", serialParallel(107_700, 25_820), 7},
	{"loopy(64)", []virtual.Phase{virtual.Loopy(64, 10*loopyMS)}, 16},
	{"fib(33)", serialParallel(2_082_000, 70), 16},
	{"cholesky(2048,10000)", serialParallel(4_484_000, 8_224), 15},
}

func serialParallel(work, span int) []virtual.Phase {
	return []virtual.Phase{virtual.Serial(span - 1), virtual.Parallel(work - span + 1)}
}

var p3Of003 = &Experiment{
	ID: "003/p3", Place: "Section 7.2.3, experiment P3, figure 7-10",
	About: "seven jobs on 16 virtual processors against the bound of greedy schedules, with η = 0.75",
	Notes: virtual003 + "A step is 0.1 ms, about the time of a node of the document's trees. fib, strassen and " +
		"cholesky are a serial phase and then a parallel one, with the document's T1 and T∞: their shapes are not in it.",
	plan: func(p *Plan) { p.compute(20*computing, "003-p3", greedyRows) },
	figures: func(d *Data) []*Figure {
		return []*Figure{chart{
			file: "003-p3", title: "Time against T1/P̄ + T∞, 16 virtual processors", x: "job", y: "of-bound",
			yLabel: "times the bound", series: "control",
		}.bars(d)}
	},
	printed: printedP3,
	columns: []string{"job"},
	metrics: []metric{{"work", "T1, s", 1e-4}, {"span", "T∞, s", 1e-4}, {"usage", "P̄", 1},
		{"document", "T on the document's ⌈P̄⌉, s", 1e-4},
		{"bound", "T1/P̄ + T∞, s", 1e-4}, {"time", "T, s", 1e-4}, {"of-bound", "T, bounds", 1},
		{"fixed", "T on ⌈P̄⌉, s", 1e-4}, {"best", "best T, s", 1e-4}},
	claims: []*Claim{
		{
			ID: "003/p3 bound", Place: "7.2.3, fig. 7-10",
			needs: calculated,
			Says:  "In every case the time is within a factor of 2 of T1/P̄ + T∞; the factors are 0.83 to 1.90.",
			judge: func(d *Data) Verdict {
				s := d.stat("of-bound")
				return verdict(s.N == len(greedyJobs) && s.Most <= 2, "%.2f to %.2f times the bound, in %d jobs", s.Least,
					s.Most, s.N)
			},
		},
		timesClaim("fixed", "The time closely matches that of Cilk on ⌈P̄⌉ fixed processors.", "time", "fixed", ""),
		timesClaim("best", "The time of Cilk on ⌈P̄⌉ processors comes close to its best on any fixed number.", "fixed",
			"best", "by the document's own figures knary(11,3,3) takes 7.669 s on one processor, its T1, and 10.85 s on "+
				"⌈P̄⌉ = 4, which is 1.41 times as long; and on an ideal machine a job whose parallelism changes is "+
				"faster with more processors than its mean"),
	},
}

// most003 is how many times another a time may be that is close to it.
const most003 = 1.25

// timesClaim judges whether a time of each job is close to another.
func timesClaim(name, says, time, other, refuted string) *Claim {
	return &Claim{
		ID: "003/p3 " + name, Place: "7.2.3, fig. 7-10", Says: says,
		needs: calculated, refuted: refuted,
		judge: func(d *Data) Verdict {
			held, found := true, []string{}
			for _, job := range d.values("job") {
				x := d.median(time, "job=%s", job) / d.median(other, "job=%s", job)
				held = held && x <= most003
				found = append(found, fmt.Sprintf("%s %.2f×", job, x))
			}
			return verdict(held, "%s (within %g× holds)", strings.Join(found, ", "), most003)
		},
	}
}

func greedyRows() (rows []bench.Row) {
	const processors = 16
	for _, j := range greedyJobs {
		job := []virtual.Job{{Phases: j.phases}}
		m := sharedOn(processors)
		m.Rule = allot.WSAP{Efficiency: 750}
		o := m.Run(job).Jobs[0]
		fixed := func(partition int) float64 {
			m := staticOn(processors)
			m.Partition = partition
			return float64(m.Run(job).Jobs[0].Response())
		}
		onMean := fixed(int(math.Ceil(o.Usage)))
		onDocument := fixed(j.mean)
		best := min(onMean, onDocument)
		for _, n := range []int{4, 8, 12, 16} {
			best = min(best, fixed(n))
		}
		rows = append(rows, newRow([]bench.Metric{
			{Name: "work", Value: float64(o.Work())}, {Name: "span", Value: float64(o.Span())},
			{Name: "usage", Value: o.Usage}, {Name: "bound", Value: o.GreedyBound()},
			{Name: "time", Value: float64(o.Response())},
			{Name: "of-bound", Value: float64(o.Response()) / o.GreedyBound()},
			{Name: "fixed", Value: onMean}, {Name: "best", Value: best},
			{Name: "document", Value: onDocument},
		}, "job", j.name, "control", shared003))
	}
	return rows
}
