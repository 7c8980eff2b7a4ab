package replay

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// The experiments of document 003 on this machine: jobs are runs of wsbench, and share its processors by -share.
var document003Machine = []*Experiment{fig71Of003, o1Of003, o2Of003, fig74OnMachine, p1OnMachine, p2OnMachine,
	services003, p3OnMachine}

const machine003 = "The document has 16 processors, and a job is a process that runs once. Here each job has as many " +
	"workers as there are cores, if nothing else is said. Jobs that share use an allocation table of the " +
	"measurement. Forks are pushed at once, as Cilk spawns. "

// A job003 is a job of the document with its size here and there.
type job003 struct {
	name           string // a tag
	here, document string // workload, size and inputs
}

func (j job003) size(p *Plan) string {
	if p.Full {
		return j.document
	}
	return j.here
}

// watched is the size for a run in which each call is noted, which takes many times the work of a call of fib.
func (j job003) watched(p *Plan) string {
	if j.name == "fib" && !p.Full {
		return "fib -n 30"
	}
	return j.size(p)
}

// jobs71 are those of Fig 7-1.
var jobs71 = []job003{
	{"fib", "fib -n 34", "fib -n 33"},
	{"loopy", "loopy -n 64 -iterations 4000000", "loopy -n 64 -iterations 4000000"},
	{"cholesky", "cholesky -n 1024 -nonzeros 5000", "cholesky -n 2048 -nonzeros 10000"},
	{"knary", "knary -n 9 -branching 6 -serial 1", "knary -n 10 -branching 6 -serial 1"},
}

// jobsO1 are those of experiment O1. A job that one worker ends within the longest cycle has no all-procs time, so
// cholesky has the document's size.
var jobsO1 = []job003{
	jobs71[0], jobs71[1], {jobs71[2].name, jobs71[2].document, jobs71[2].document}, jobs71[3],
}

// cycles003 are the values of est_cycle in milliseconds.
var cycles003 = []int{1, 2, 5, 10, 25, 50, 100}

// unshared is the cycle of runs that do not share the machine.
const unshared = "unshared"

// cycleFlags are the flags of a run that shares with that cycle.
func cycleFlags(ms int) string { return fmt.Sprintf("-share -share-cycle %dms", ms) }

// isNumber is a condition: all cycles, and not unshared.
func isNumber(cycles []int) string {
	var all []string
	for _, c := range cycles {
		all = append(all, strconv.Itoa(c))
	}
	return strings.Join(all, "|")
}

var fig71Of003 = &Experiment{
	ID: "003/fig7-1", Place: "Section 7.1.1, figure 7-1",
	About: "work, span and parallelism of four jobs, and the time until all processors have work",
	Notes: machine003 + "The parallelism in units counts steps of the job, and is exact.",
	plan: func(p *Plan) {
		for _, j := range jobs71 {
			p.alone(4*time.Second, map[string]string{"job": j.name},
				fmt.Sprintf("run %s -forks pushed -workers %d -profile -reps %d", j.watched(p), p.Cores, p.reps(3, 5)))
		}
	},
	figures: func(d *Data) []*Figure {
		f := chart{file: "003-fig7-1", title: "Parallelism", yLabel: "parallelism, in units", log: true}.frame("bars")
		s := Series{Name: "parallelism"}
		for i, j := range jobs71 {
			f.X.Categories = append(f.X.Categories, j.name)
			s.at(i, d.median("parallelism-units", "job=%s", j.name))
		}
		f.add(s)
		return []*Figure{f}
	},
	printed: printedFig71,
	columns: []string{"job", "engine", "workers", "n"},
	metrics: []metric{
		{"work-ns", "work, ms", 1e-6}, {"span-ns", "span, ms", 1e-6}, {"parallelism", "parallelism", 1},
		{"parallelism-units", "parallelism, in units", 1}, {"all-procs-ns", "all-procs time, ms", 1e-6}, wallMS,
	},
	claims: []*Claim{{
		ID: "003/fig7-1 parallelism", Place: "7.1.1, fig. 7-1",
		needs: counted,
		Says: "Each of the four jobs has a parallelism much greater than the number of processors: about four times as " +
			"great, and up to 10000 times.",
		judge: func(d *Data) Verdict {
			held, found := true, []string{}
			for _, j := range jobs71 {
				part := d.where("job=%s", j.name)
				x := part.stat("parallelism-units").Median
				held = held && x >= 0.99*4*16 // the document has 63.95 for loopy
				found = append(found, fmt.Sprintf("%s %s (by time %s)", j.name, significant(x),
					significant(part.stat("parallelism").Median)))
			}
			return verdict(held, "for the document's 16 processors: %s", strings.Join(found, ", "))
		},
	}},
}

var o1Of003 = &Experiment{
	ID: "003/o1", Place: "Section 7.1.1, experiment O1, figures 7-2 and 7-3",
	About: "the time until all processors have work, by est_cycle",
	Notes: machine003 + "A job begins with one worker, and with two processors it desires both after one cycle.",
	plan: func(p *Plan) {
		for _, j := range jobsO1 {
			run := fmt.Sprintf("run %s -forks pushed -workers %d -all-procs -reps %d", j.watched(p), p.Cores,
				p.reps(3, 5))
			p.alone(2*time.Second, map[string]string{"job": j.name, "cycle": unshared}, run)
			for _, c := range cycles003 {
				flags := " " + cycleFlags(c)
				if c == 1 { // the baseline of all claims
					flags += againFlag + "workers=" + itoa(p.Cores)
				}
				p.alone(2*time.Second, map[string]string{"job": j.name, "cycle": strconv.Itoa(c)}, run+flags)
			}
		}
	},
	figures: func(d *Data) []*Figure {
		c := chart{
			file: "003-o1", title: "All-procs time", x: "cycle", xLabel: "est_cycle, ms", y: "all-procs-ns",
			yLabel: "ms", scale: 1e-6, series: "job", logX: true,
		}
		intervals := chart{
			file: "003-o1-intervals", title: "All-procs time in intervals", xLabel: "est_cycle, ms", yLabel: "intervals",
			logX: true,
		}.frame("lines")
		intervals.X.Log, intervals.Y.Zero = true, true
		for _, j := range jobsO1 {
			s := Series{Name: j.name}
			for _, c := range cycles003 {
				s.Points = append(s.Points, Point{X: float64(c), Y: d.intervals(j.name, c)})
			}
			intervals.add(s)
		}
		return []*Figure{c.lines(d), intervals}
	},
	printed: printedO1,
	columns: []string{"job", "cycle", "workers", "n"},
	metrics: []metric{{"all-procs-ns", "all-procs time, ms", 1e-6}, wallMS, {"share-cycles", "cycles of the run", 1}},
	claims: []*Claim{
		{
			ID: "003/o1 grows", Place: "7.1.1, fig. 7-2(a)",
			needs: twoProcessors, baseline: "cycle=1|25",
			Says: "The all-procs time grows with est_cycle.",
			judge: func(d *Data) Verdict {
				held, found := true, []string{}
				for _, j := range jobsO1 {
					at := func(cycle any) float64 { return d.median("all-procs-ns", "job=%s cycle=%v", j.name, cycle) }
					held = held && at(100) > at(25) && at(25) > at(5) && at(5) > at(1)
					found = append(found, fmt.Sprintf("%s %s, %s, %s and %s, %s unshared", j.name, ms(at(1)), ms(at(5)),
						ms(at(25)), ms(at(100)), ms(at(unshared))))
				}
				return verdict(held, "with 1, 5, 25 and 100 ms: %s", strings.Join(found, "; "))
			},
		},
		{
			ID: "003/o1 intervals", Place: "7.1.1, fig. 7-2(b)",
			needs: twoProcessors, baseline: "cycle=1",
			Says: "In intervals of est_cycle the all-procs time falls, and is at least log P of them.",
			judge: func(d *Data) Verdict {
				held, found := true, []string{}
				// An interval of a job can begin before the first call does.
				least := 0.9 * math.Log2(float64(d.Env.Cores))
				for _, j := range jobsO1 {
					x, y := d.intervals(j.name, 1), d.intervals(j.name, 100)
					held = held && x >= y && y >= least
					found = append(found, fmt.Sprintf("%s %s and %s", j.name, significant(x), significant(y)))
				}
				return verdict(held, "with 1 and 100 ms: %s", strings.Join(found, ", "))
			},
		},
	},
}

// intervals returns the all-procs time of a job in units of est_cycle.
func (d *Data) intervals(job string, cycle int) float64 {
	return d.median("all-procs-ns", "job=%s cycle=%d", job, cycle) / (float64(cycle) * 1e6)
}

// jobsO2 are those of experiment O2 here.
var jobsO2 = []job003{
	{"fib", "fib -n 37", "fib -n 42"},
	{"loopy", "loopy -n 64 -iterations 16000000", "loopy -n 64 -iterations 64000000"},
}

var o2Of003 = &Experiment{
	ID: "003/o2", Place: "Section 7.1.2, experiment O2, figure 7-5",
	About: "what estimating desires costs a job that is alone, by est_cycle",
	Notes: machine003 + "All settings of a job have turns, a repetition each, and none has always the same place. The" +
		" overhead is the ratio of medians. A job begins with one worker, which is experiment O1: the" +
		" claims are about the overhead less what that costs, which for a job of a second is more " +
		"than the rest. Only two of the jobs, for they have to be long.",
	plan: func(p *Plan) {
		for _, j := range jobsO2 {
			run := fmt.Sprintf("run %s -forks pushed -workers %d", j.size(p), p.Cores)
			all := []Program{p.program(map[string]string{"job": j.name, "cycle": unshared}, run)}
			all = append(all, p.program(againTag(map[string]string{"job": j.name, "cycle": unshared}), run))
			for _, c := range cycles003 {
				all = append(all, p.program(map[string]string{"job": j.name, "cycle": strconv.Itoa(c)},
					run+" "+cycleFlags(c)))
			}
			p.rounds(68*time.Second, Rounds{Slots: 1}, p.reps(7, 21), all...)
		}
	},
	figures: func(d *Data) []*Figure {
		f := chart{file: "003-o2", title: "Overhead alone, without the begin", xLabel: "est_cycle, ms",
			yLabel: "overhead, %"}.frame("lines")
		f.X.Log = true
		for _, j := range jobsO2 {
			s := Series{Name: j.name}
			for _, c := range cycles003 {
				s.Points = append(s.Points, Point{X: float64(c), Y: 100 * d.overhead(j.name, c)})
			}
			f.add(s)
		}
		return []*Figure{f}
	},
	printed: printedO2,
	columns: []string{"job", "cycle", "workers", "n"},
	metrics: []metric{wallMS, util, {"share-cycles", "cycles", 1}, {"share-mean-usage", "mean usage", 1}},
	claims: []*Claim{
		{
			ID: "003/o2 overhead", Place: "7.1.2, fig. 7-5",
			needs: aJobAlone, baseline: "cycle=" + unshared,
			Says:  "The overhead is about 0 for an est_cycle of 5 ms or more: 1 % at most.",
			judge: func(d *Data) Verdict { return d.overheadVerdict(cycles003[2:], 0.01) },
		},
		{
			ID: "003/o2 choice", Place: "7.1.2",
			needs: aJobAlone, baseline: "cycle=" + unshared,
			Says:  "An est_cycle of 5 ms is large enough to avoid significant overheads: 1 % at most.",
			judge: func(d *Data) Verdict { return d.overheadVerdict(cycles003[2:3], 0.01) },
		},
	},
}

// startNS returns the time that a job loses at its begin: its workers are 1, 2, 4 and so on in the first cycles.
func (d *Data) startNS(cycle int) (sum float64) {
	cores := float64(d.Env.Cores)
	for awake := 1.0; awake < cores; awake *= 2 {
		sum += (1 - awake/cores) * float64(cycle) * 1e6
	}
	return sum
}

// overhead returns by how much a job that shares takes longer, as a part of the time without. The time that it loses at
// its begin is left out.
func (d *Data) overhead(job string, cycle int) float64 {
	return (d.median("ns/op", "job=%s cycle=%d", job, cycle)-d.startNS(cycle))/
		d.median("ns/op", "job=%s cycle=%s", job, unshared) - 1
}

// overheadVerdict judges the mean overhead of the jobs and cycles, which must not be more than most.
func (d *Data) overheadVerdict(cycles []int, most float64) Verdict {
	sum, n, found := 0.0, 0.0, []string{}
	for _, j := range jobsO2 {
		each := []string{}
		for _, c := range cycles {
			o := d.overhead(j.name, c)
			sum += o
			n++
			each = append(each, fmt.Sprintf("%+.1f", 100*o))
		}
		found = append(found, fmt.Sprintf("%s %s", j.name, strings.Join(each, ", ")))
	}
	return verdict(sum/n <= most, "%+.2f %% on average; in %% with %s ms: %s", 100*sum/n,
		strings.ReplaceAll(isNumber(cycles), "|", ", "), strings.Join(found, "; "))
}

var fig74OnMachine = &Experiment{
	ID: "003/fig7-4-machine", Place: "Section 7.1.1, figure 7-4",
	About: "loopy's all-procs time with desires by steal attempts and by ready tasks, on this machine",
	Notes: machine003 + "A job with one worker and one ready task desires two by either estimate, so with two " +
		"processors they are alike.",
	plan: func(p *Plan) {
		loopy := jobs71[1]
		for _, c := range []int{1, 5, 25} {
			for _, desire := range []string{"steal-ratio", "ready-items"} {
				flags := ""
				if c == 1 && desire == "steal-ratio" {
					flags = againFlag + "workers=" + itoa(p.Cores)
				}
				p.alone(2*time.Second, map[string]string{"desire": desire, "cycle": strconv.Itoa(c)},
					fmt.Sprintf("run %s -forks pushed -workers %d -all-procs %s -share-desire %s -reps %d%s",
						loopy.size(p), p.Cores, cycleFlags(c), desire, p.reps(3, 5), flags))
			}
		}
	},
	figures: func(d *Data) []*Figure {
		return []*Figure{chart{
			file: "003-fig7-4-machine", title: "loopy", x: "cycle", xLabel: "est_cycle, ms", y: "all-procs-ns",
			yLabel: "all-procs time, ms", scale: 1e-6, series: "desire", logX: true,
		}.lines(d)}
	},
	printed: printedFig74,
	columns: []string{"desire", "cycle", "workers", "n"},
	metrics: []metric{{"all-procs-ns", "all-procs time, ms", 1e-6}, wallMS},
	claims: []*Claim{{
		ID: "003/fig7-4-machine slower", Place: "7.1.1, fig. 7-4",
		needs: twelveProcessors, baseline: "desire=steal-ratio",
		Says: "With desires by instantaneous parallelism the all-procs time of loopy is more than 2.5 times as long, " +
			"with any est_cycle.",
		judge: func(d *Data) Verdict {
			held, found := true, []string{}
			for _, c := range []int{1, 5, 25} {
				of := func(desire string) float64 {
					return d.median("all-procs-ns", "desire=%s cycle=%d", desire, c)
				}
				x := of("ready-items") / of("steal-ratio")
				held = held && x > 2.5
				found = append(found, fmt.Sprintf("%d ms: %s×", c, significant(x)))
			}
			return verdict(held, "%s", strings.Join(found, ", "))
		},
	}},
}
