package replay

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The experiments of document 000: its schedulers are ours (its Algorithms 1 to 5, policy adaptive-published), MBWS and
// ABP. Policy adaptive is what has become of the published one.
var document000 = []*Experiment{fig2, table1, fig4, fig5Energy, fig5CoRun, lemma2}

const (
	ours        = "adaptive-published"
	policies000 = ours + ",adaptive,mbws,abp"
)

// micro are the four graphs of figures 2 and 3, with their sizes here and in the document.
var micro = []struct {
	name           string
	here, document int
	panel          string
	expect         time.Duration // of five repetitions here
}{
	{"chain", 1 << 22, 8388608, "a", 10 * time.Second},
	{"btree", 1<<22 - 1, 8388607, "b", 12 * time.Second},
	{"dag", 400000, 4000000, "c", 9 * time.Second},
	{"matmul", 512, 2048, "d", 7 * time.Second},
}

var fig2 = &Experiment{
	ID: "000/fig2", Place: "Section III-A, figures 2 and 3",
	About: "time and CPU utilisation of four graphs, by workers and policy",
	Notes: "Each graph runs in both windows: the run alone, and the whole process with the building of the graph, " +
		"which is what perf stat measured for the document. Threads are pinned as with its taskset. The policies " +
		"take " +
		"turns in one process. The document's own form of ours, without spans of tasks and polling, is " +
		"000/fig2 in the rows with engine magpie-verbatim.",
	plan: func(p *Plan) {
		for _, g := range micro {
			for _, w := range p.workers() {
				n, reps := p.size(g.here, g.document), p.reps(5, 10)
				p.run(g.expect, "%s -policy %s -workers %d -n %d -reps %d -pin", g.name, policies000, w, n, reps)
				if g.name == "chain" {
					p.run(g.expect/2, "chain -policy %s -verbatim -workers %d -n %d -reps %d -pin", ours, w, n, reps)
				}
				p.run(g.expect, "%s -policy %s -workers %d -n %d -reps %d -pin -whole", g.name, policies000, w, n,
					min(reps, p.size(3, 10)))
			}
		}
	},
	figures: func(d *Data) (all []*Figure) {
		for _, g := range micro {
			part := d.where("workload=%s engine=magpie whole=", g.name)
			all = append(all,
				chart{
					file: "000-fig2" + g.panel, title: "Time, " + g.name, x: "workers", xLabel: "workers",
					y: "wall_ns", yLabel: "time, ms", scale: 1e-6, series: "policy",
				}.lines(part),
				chart{
					file: "000-fig3" + g.panel, title: "CPU utilisation, " + g.name, x: "workers", xLabel: "workers",
					y: "cpu_util", yLabel: "busy cores", series: "policy",
				}.lines(part))
		}
		return append(all, chart{
			file: "000-fig3a-whole", title: "CPU utilisation, chain, whole process", x: "workers", xLabel: "workers",
			y: "cpu_util", yLabel: "busy cores", series: "policy",
		}.lines(d.where("workload=chain whole=true")))
	},
	columns: []string{"workload", "engine", "policy", "whole", "workers", "n"},
	metrics: []metric{wallMS, util, cpuMS, peakMiB, steals, parks},
	claims: []*Claim{
		{
			ID: "000/fig2 chain-time", Place: "III-A, fig. 2 (a)",
			Says: "The time of the linear chain does not fall when cores are added, under any scheduler.",
			judge: func(d *Data) Verdict {
				chain := d.where("workload=chain engine=magpie whole=")
				held, found := true, []string{}
				for _, p := range chain.values("policy") {
					part := chain.where("policy=%s", p)
					least, _ := part.extremes("workers", "wall_ns", 1)
					one := part.median("wall_ns", "workers=1")
					held = held && least >= 0.75*one // with 1, all else of the process shares its core
					found = append(found, fmt.Sprintf("%s: %s alone, at best %s with more", p, ms(one), ms(least)))
				}
				return verdict(held, "%s", strings.Join(found, "; "))
			},
		},
		{
			ID: "000/fig3 chain-ours", Place: "III-A, fig. 3 (a)",
			Says: "On the chain the CPU utilisation of ours stays around 1.2 from 4 to 40 cores.",
			judge: func(d *Data) Verdict {
				chain := d.where("workload=chain policy=%s", ours)
				run, verbatim := chain.where("engine=magpie whole="), chain.where("engine=magpie-verbatim whole=")
				whole := chain.where("whole=true")
				least, most := run.extremes("workers", "cpu_util", 1)
				return verdict(most <= 1.5 && most-least <= 0.3,
					"the run alone, by workers: %s; in the document's own form: %s; the whole process: %s",
					run.curve("workers", "cpu_util", 1), verbatim.curve("workers", "cpu_util", 1),
					whole.curve("workers", "cpu_util", 1))
			},
		},
		{
			ID: "000/fig3 chain-mbws", Place: "III-A, fig. 3 (a)",
			Says: "On the chain the CPU utilisation of MBWS stays around 2.0 from 4 to 40 cores.",
			judge: needsCores(4, func(d *Data) Verdict {
				run := d.where("workload=chain engine=magpie whole= policy=mbws")
				least, most := run.extremes("workers", "cpu_util", 1)
				return verdict(least >= 1.6 && most <= 2.4, "the run alone, by workers: %s",
					run.curve("workers", "cpu_util", 1))
			}),
		},
		{
			ID: "000/fig3 chain-adaptive", Place: "beyond the document",
			Says: "On the chain policy adaptive keeps one core busy, whatever the number of workers.",
			judge: func(d *Data) Verdict {
				run := d.where("workload=chain engine=magpie whole= policy=adaptive")
				_, most := run.extremes("workers", "cpu_util", 0)
				return verdict(most <= 1.05, "by workers: %s", run.curve("workers", "cpu_util", 1))
			},
		},
		{
			ID: "000/fig3 chain-abp", Place: "III-A, fig. 3 (a)",
			Says: "On the chain the CPU utilisation of ABP grows with the cores.",
			judge: func(d *Data) Verdict {
				run := d.where("workload=chain engine=magpie whole= policy=abp")
				one := run.median("cpu_util", "workers=1")
				_, most := run.extremes("workers", "cpu_util", 1)
				return verdict(most >= one+0.8*float64(min(d.Env.Cores, 40)-1), "by workers: %s; here are %d cores",
					run.curve("workers", "cpu_util", 1), d.Env.Cores)
			},
		},
		{
			ID: "000/fig2 tree-time", Place: "III-A, fig. 2 (b)",
			Says:  "On the binary tree the times of all schedulers fall until 4 cores, and are stable from there on.",
			judge: needsCores(8, fallsThenStable("btree")),
		},
		{
			ID: "000/fig3 tree-util", Place: "III-A, fig. 3 (b)",
			Says: "On the binary tree ABP has the highest CPU utilisation, ours the lowest, and that of ABP grows " +
				"fastest.",
			judge: abpHighest("btree"),
		},
		{
			ID: "000/fig2 dag-time", Place: "III-A, fig. 2 (c)",
			Says: "In the graph traversal the times of all schedulers fall until 4 cores, and are stable from " +
				"there on.",
			judge: needsCores(8, fallsThenStable("dag")),
		},
		{
			ID: "000/fig3 dag-util", Place: "III-A, fig. 3 (c)",
			Says: "In the graph traversal ABP has the highest CPU utilisation, ours the lowest, and that of ABP " +
				"grows fastest.",
			judge: abpHighest("dag"),
		},
		{
			ID: "000/fig2 matmul", Place: "III-A, figures 2 (d) and 3 (d)",
			Says: "For the matrix multiplication the times of all schedulers are very close, and their CPU " +
				"utilisations " +
				"grow alike.",
			judge: func(d *Data) Verdict {
				run := d.where("workload=matmul engine=magpie whole= policy=%s|mbws|abp", ours)
				w := run.allCores()
				at := run.where("workers=%s", w)
				least, most := at.extremes("policy", "wall_ns", 0)
				leastUtil, mostUtil := at.extremes("policy", "cpu_util", 0)
				return verdict(most <= 1.15*least && mostUtil <= 1.15*leastUtil,
					"with %s workers, times in ms: %s; CPU utilisation: %s", w, at.each("policy", "wall_ns", 1e-6),
					at.each("policy", "cpu_util", 1))
			},
		},
	},
}

// allCores returns the largest number of workers for which there are cores. The document has no more.
func (d *Data) allCores() (largest string) {
	for _, v := range d.values("workers") {
		if n, err := strconv.Atoi(v); err == nil && n <= d.Env.Cores {
			largest = v
		}
	}
	return largest
}

// fallsThenStable judges whether the time of a graph falls until 4 workers and is stable from there on.
func fallsThenStable(graph string) func(*Data) Verdict {
	return func(d *Data) Verdict {
		held, found := true, []string{}
		run := d.where("workload=%s engine=magpie whole= policy=%s|mbws|abp", graph, ours)
		for _, p := range run.values("policy") {
			part := run.where("policy=%s", p)
			least, most := part.extremes("workers", "wall_ns", 2)
			held = held && least < part.median("wall_ns", "workers=1") && most <= 1.3*least
			found = append(found, p+", ms by workers: "+part.curve("workers", "wall_ns", 1e-6))
		}
		return verdict(held, "%s", strings.Join(found, "; "))
	}
}

// abpHighest judges whether the CPU utilisation of ABP is the highest and grows fastest, and ours is the lowest.
func abpHighest(graph string) func(*Data) Verdict {
	return func(d *Data) Verdict {
		run := d.where("workload=%s engine=magpie whole= policy=%s|mbws|abp", graph, ours)
		w := run.allCores()
		most := run.where("workers=%s", w)
		growth := func(p string) float64 {
			return most.median("cpu_util", "policy=%s", p) - run.median("cpu_util", "policy=%s workers=1", p)
		}
		u := func(p string) float64 { return most.median("cpu_util", "policy=%s", p) }
		// Two utilisations that differ by less than this are equal.
		const eps = 0.02
		held := u("abp") > u("mbws")+eps && u("mbws") > u(ours)-eps && u("abp") > u(ours)+eps &&
			growth("abp") > growth("mbws") && growth("abp") > growth(ours)
		return verdict(held, "with %s workers: %s; growth from 1 worker: ABP %s, MBWS %s, ours %s", w,
			most.each("policy", "cpu_util", 1), significant(growth("abp")), significant(growth("mbws")),
			significant(growth(ours)))
	}
}

// circuits are those of Table I, with the operations here and in the document.
var circuits = []struct {
	name           string
	here, document int
	corners        int
	expect         time.Duration // of three repetitions
}{
	// With 64 corners a task takes some two microseconds, so that a graph of them can gain from workers, as OpenTimer's
	// do. A graph of b19 gains with 16, and fits in memory several times.
	{"c6288", 150, 80800, 64, 2 * time.Second},
	{"tv80", 80, 51000, 64, 1500 * time.Millisecond},
	{"b19", 4, 10100, 16, 5 * time.Second},
}

// fig4Policies are those of figures 4 and 5.
const fig4Policies = ours + ",mbws,abp"

// planTiming plans the runs of the timing analysis, which figures 4 and 5 share.
func planTiming(p *Plan) {
	for _, c := range circuits {
		for _, w := range p.workers() {
			for policy := range strings.SplitSeq(fig4Policies, ",") {
				p.alone(c.expect, nil, fmt.Sprintf("run sta -circuit %s -corners %d -n %d -policy %s -workers %d "+
					"-reps %d -pin",
					c.name, c.corners, p.size(c.here, c.document), policy, w, p.reps(5, 5)))
			}
		}
	}
}

// byCircuit calls judge with the runs of the analysis of each circuit alone.
func byCircuit(name string, judge func(*Data) Verdict) func(*Data) Verdict {
	return func(d *Data) Verdict { return judge(d.where("circuit=%s", name)) }
}

var table1 = &Experiment{
	ID: "000/table1", Place: "Section III-B, Table I",
	About: "the circuits of the timing analysis",
	Notes: "The circuits of the TAU 2015 contest are not available. c6288 is the ISCAS netlist, exactly: the " +
		"document has it mapped to " +
		"1700 larger cells. tv80 and b19 have the published numbers of gates, in an order that a seed chooses.",
	plan: func(p *Plan) {
		for _, c := range circuits {
			p.run(time.Second, "sta -circuit %s -n 1 -reps 1 -workers 1", c.name)
		}
	},
	columns: []string{"circuit"},
	metrics: []metric{{"gates", "gates", 1}, {"nets", "nets", 1}},
	claims: []*Claim{{
		ID: "000/table1 sizes", Place: "III-B, Table I",
		Says: "c6288 has 1700 gates, tv80 5300 and b19 255300, and each as many nets.",
		judge: func(d *Data) Verdict {
			held, found := true, []string{}
			for _, c := range []struct {
				name  string
				gates float64
			}{{"c6288", 1700}, {"tv80", 5300}, {"b19", 255300}} {
				gates := d.median("gates", "circuit=%s", c.name)
				held = held && gates > 0.99*c.gates && gates < 1.01*c.gates
				found = append(found, fmt.Sprintf("%s has %.0f gates and %.0f nets", c.name, gates,
					d.median("nets", "circuit=%s", c.name)))
			}
			return verdict(held, "%s", strings.Join(found, "; "))
		},
	}},
}

var fig4 = &Experiment{
	ID: "000/fig4", Place: "Section III-B, figure 4",
	About: "time and CPU utilisation of incremental timing analysis, by workers and policy",
	Notes: "The analysis is workload sta, which stands for OpenTimer. Each policy has a process of its own, for " +
		"figure 5 " +
		"asks for its energy. Energy is that of the whole process, which analyses the circuit once more to verify.",
	plan: planTiming,
	figures: func(d *Data) (all []*Figure) {
		for _, c := range circuits {
			part := d.where("circuit=%s", c.name)
			all = append(all,
				chart{
					file: "000-fig4-" + c.name + "-time", title: "Time, " + c.name, x: "workers", xLabel: "workers",
					y: "wall_ns", yLabel: "time, ms", scale: 1e-6, series: "policy",
				}.lines(part),
				chart{
					file: "000-fig4-" + c.name + "-util", title: "CPU utilisation, " + c.name, x: "workers",
					xLabel: "workers", y: "cpu_util", yLabel: "busy cores", series: "policy",
				}.lines(part))
		}
		return all
	},
	columns: []string{"circuit", "policy", "workers", "n"},
	metrics: []metric{wallMS, util, cpuMS, peakMiB, steals, parks},
	claims: []*Claim{
		{
			ID: "000/fig4 c6288-time", Place: "III-B, fig. 4, c6288",
			Says: "The smallest circuit's time does not scale with the cores.",
			judge: byCircuit("c6288", func(d *Data) Verdict {
				held, found := true, []string{}
				for _, p := range d.values("policy") {
					part := d.where("policy=%s", p)
					least, _ := part.extremes("workers", "wall_ns", 1)
					held = held && least > 0.8*part.median("wall_ns", "workers=1")
					found = append(found, p+", ms by workers: "+part.curve("workers", "wall_ns", 1e-6))
				}
				return verdict(held, "%s", strings.Join(found, "; "))
			}),
		},
		{
			ID: "000/fig4 c6288-util", Place: "III-B, fig. 4, c6288",
			Says: "The CPU utilisations of all grow with the cores; ABP has the highest, then MBWS, and ours the " +
				"lowest.",
			judge: byCircuit("c6288", func(d *Data) Verdict {
				most := d.where("workers=%s", d.allCores())
				u := func(p string) float64 { return most.median("cpu_util", "policy=%s", p) }
				const eps = 0.02 // what is closer is equal
				grows := true
				for _, p := range d.values("policy") {
					grows = grows && u(p) > d.median("cpu_util", "policy=%s workers=1", p)+eps
				}
				return verdict(grows && u("abp") > u("mbws")+eps && u("mbws") > u(ours)+eps, "with %s workers: %s",
					d.allCores(), most.each("policy", "cpu_util", 1))
			}),
		},
		{
			ID: "000/fig4 tv80", Place: "III-B, fig. 4, tv80",
			Says: "ABP is faster than the others except with one core: 52.5 s at 40 cores, ours 60.4 s, MBWS 60.8 " +
				"s; and its " +
				"CPU utilisation is the highest.",
			judge: byCircuit("tv80", func(d *Data) Verdict {
				most := d.where("workers=%s", d.allCores())
				t := func(p string) float64 { return most.median("wall_ns", "policy=%s", p) }
				u := func(p string) float64 { return most.median("cpu_util", "policy=%s", p) }
				return verdict(max(t("abp")/t(ours), t("abp")/t("mbws")) < 0.98 && min(u("abp")/u(ours),
					u("abp")/u("mbws")) > 1.02,
					"with %s workers, times in ms: %s; CPU utilisation: %s", most.last("workers"),
					most.each("policy", "wall_ns", 1e-6), most.each("policy", "cpu_util", 1))
			}),
		},
		{
			ID: "000/fig4 b19", Place: "III-B, fig. 4, b19",
			Says: "On the large circuit ours takes 5 % less time than MBWS and 15 % less than ABP at 40 cores, " +
				"with CPU " +
				"utilisations of 22.7 (ours), 21.7 (MBWS) and 38.5 (ABP).",
			judge: byCircuit("b19", func(d *Data) Verdict {
				most := d.where("workers=%s", d.allCores())
				t := func(p string) float64 { return most.median("wall_ns", "policy=%s", p) }
				u := func(p string) float64 { return most.median("cpu_util", "policy=%s", p) }
				return verdict(t(ours) < 0.98*t("mbws") && t(ours) < 0.93*t("abp") && u("abp") > 1.02*u(ours),
					"with %s workers ours takes %s against MBWS and %s against ABP; CPU utilisation: %s",
					most.last("workers"), percent(t(ours), t("mbws")), percent(t(ours), t("abp")),
					most.each("policy", "cpu_util", 1))
			}),
		},
	},
}

// energyOf returns the figure that stands for energy, and its name: joules where they were measured, or else CPU time.
func (d *Data) energyOf() (figure, name string, scale float64) {
	if d.stat("joules").N > 0 {
		return "joules", "energy, J", 1
	}
	return "cpu_ns", "CPU time, ms (a proxy of energy)", 1e-6
}

var fig5Energy = &Experiment{
	ID: "000/fig5-energy", Place: "Section III-B, figure 5 (left)",
	About: "energy of the timing analysis, by workers and policy",
	Notes: "Energy is that of the processor packages where their counters can be read (RAPL). Elsewhere CPU time " +
		"stands " +
		"for it, which leaves out that an idle core takes energy, too.",
	plan: planTiming,
	figures: func(d *Data) (all []*Figure) {
		y, label, scale := d.energyOf()
		for _, c := range circuits {
			all = append(all, chart{
				file: "000-fig5-energy-" + c.name, title: "Energy, " + c.name, x: "workers", xLabel: "workers",
				y: y, yLabel: label, scale: scale, series: "policy",
			}.lines(d.where("circuit=%s", c.name)))
		}
		return all
	},
	columns: []string{"circuit", "policy", "workers"},
	metrics: []metric{{"joules", "energy, J", 1}, cpuMS, wallMS},
	claims: []*Claim{
		{
			ID: "000/fig5-energy highest", Place: "III-B, fig. 5 (left)",
			Says: "ABP takes the most energy in most cases; MBWS is very close to ours, which is slightly better " +
				"in most.",
			judge: func(d *Data) Verdict {
				y, label, _ := d.energyOf()
				highest, close, cases, missing := 0, 0, 0, 0.0
				for _, c := range circuits {
					for _, w := range d.values("workers") {
						e := func(p string) float64 {
							return d.median(y, "circuit=%s workers=%s policy=%s", c.name, w,
								p)
						}
						cases++
						missing += 0 * (e("abp") + e("mbws") + e(ours)) // NaN if one is
						if e("abp") > max(e("mbws"), e(ours)) {
							highest++
						}
						if ratio := e(ours) / e("mbws"); ratio >= 0.85 && ratio <= 1.05 {
							close++
						}
					}
				}
				return verdict(2*highest > cases && 2*close > cases,
					"of %g cases ABP takes the most in %d; ours takes 15 %% less than MBWS to 5 %% more in %d (%s)",
					float64(cases)+missing, highest, close, label)
			},
		},
		{
			ID: "000/fig5-energy b19", Place: "III-B, fig. 5 (left), b19",
			Says: "At 40 cores ABP takes 1.57 times as much as ours and 1.48 times as much as MBWS: ours saves 36 %.",
			judge: byCircuit("b19", func(d *Data) Verdict {
				y, label, _ := d.energyOf()
				e := func(p string) float64 { return d.median(y, "workers=%s policy=%s", d.allCores(), p) }
				return verdict(e("abp") > 1.25*e(ours) && e("abp") > 1.25*e("mbws"),
					"with %s workers ABP takes %s of ours and %s of MBWS (%s)", d.allCores(), ratio(e("abp"), e(ours)),
					ratio(e("abp"), e("mbws")), label)
			}),
		},
		{
			ID: "000/fig5-energy c6288", Place: "III-B, fig. 5 (left), c6288",
			Says: "With more cores ABP takes more energy although it does not get faster: at 40 cores twice as " +
				"much as ours, " +
				"for 8 % less time.",
			judge: byCircuit("c6288", func(d *Data) Verdict {
				y, label, _ := d.energyOf()
				most := d.where("workers=%s", d.allCores())
				abp, we := most.median(y, "policy=abp"), most.median(y, "policy=%s", ours)
				one := d.median(y, "workers=1 policy=abp")
				return verdict(abp > 1.1*one && abp >= 1.5*we,
					"with %s workers ABP takes %s of ours and %s of its own with one, and its time is %s (%s)",
					d.allCores(), ratio(abp, we), ratio(abp, one),
					percent(most.median("wall_ns", "policy=abp"), most.median("wall_ns", "policy=%s", ours)), label)
			}),
		},
	},
}

var fig5CoRun = &Experiment{
	ID: "000/fig5-corun", Place: "Section III-B, figure 5 (right)",
	About: "2 to 8 timing analyses at once, each with as many workers as there are cores: weighted speed-up",
	Notes: "The weighted speed-up sums the solo time of each process over its time in the co-run. As in the " +
		"document, the " +
		"solo time is that of the same scheduler.",
	plan: func(p *Plan) {
		for _, c := range circuits[:2] {
			planCoRuns(p, c.name, c.corners, p.size(c.here, c.document), []int{2, 4, 8})
		}
		b19 := circuits[2]
		planCoRuns(p, b19.name, b19.corners, p.size(2, b19.document), []int{2, 4})
	},
	figures: func(d *Data) (all []*Figure) {
		for _, c := range circuits {
			f := chart{
				file: "000-fig5-corun-" + c.name, title: "Weighted speed-up, " + c.name, xLabel: "processes",
				yLabel: "weighted speed-up",
			}.frame("lines")
			f.Y.Zero = true
			part := d.where("circuit=%s", c.name)
			for _, p := range part.values("policy") {
				s := Series{Name: p}
				for _, k := range part.values("processes") {
					if k == "1" {
						continue
					}
					var x float64
					_, _ = fmt.Sscan(k, &x)
					s.Points = append(s.Points, Point{X: x, Y: part.speedup(p, k)})
				}
				f.add(s)
			}
			all = append(all, f)
		}
		return all
	},
	columns: []string{"circuit", "policy", "processes"},
	metrics: []metric{wallMS, util},
	claims: []*Claim{
		{
			ID: "000/fig5-corun abp-lowest", Place: "III-B, fig. 5 (right)",
			Says: "ABP has the lowest throughput in all co-runs, whatever the circuit.",
			judge: func(d *Data) Verdict {
				lowest, cases, found := 0, 0, []string{}
				for _, c := range d.values("circuit") {
					part := d.where("circuit=%s", c)
					for _, k := range part.values("processes") {
						if k == "1" {
							continue
						}
						cases++
						if part.speedup("abp", k) <= min(part.speedup("mbws", k), part.speedup(ours, k)) {
							lowest++
						}
						found = append(found, fmt.Sprintf("%s %s× ABP %s, MBWS %s, ours %s", k, c,
							significant(part.speedup("abp", k)), significant(part.speedup("mbws", k)),
							significant(part.speedup(ours, k))))
					}
				}
				return verdict(lowest == cases, "lowest in %d of %d: %s", lowest, cases, strings.Join(found, "; "))
			},
		},
		{
			ID: "000/fig5-corun c6288", Place: "III-B, fig. 5 (right), c6288",
			Says: "Ours and MBWS are close except on c6288, where 8 co-runs reach 6.6 (ours), 4.36 (MBWS) and 1.9 " +
				"(ABP).",
			judge: func(d *Data) Verdict {
				part := d.where("circuit=c6288")
				k := part.last("processes")
				close := true
				for _, c := range []string{"tv80", "b19"} {
					other := d.where("circuit=%s", c)
					r := other.speedup(ours, other.last("processes")) / other.speedup("mbws", other.last("processes"))
					close = close && r > 0.85 && r < 1.15
				}
				return verdict(close && part.speedup(ours, k) > 1.2*part.speedup("mbws", k),
					"with %s processes ours reaches %s, MBWS %s, ABP %s", k, significant(part.speedup(ours, k)),
					significant(part.speedup("mbws", k)), significant(part.speedup("abp", k)))
			},
		},
		{
			ID: "000/fig5-corun b19", Place: "III-B, fig. 5 (right), b19",
			Says: "On b19, 8 co-runs reach 1.49 (ABP), 1.89 (ours) and 1.95 (MBWS).",
			judge: func(d *Data) Verdict {
				part := d.where("circuit=b19")
				k := part.last("processes")
				return verdict(min(part.speedup(ours, k), part.speedup("mbws", k)) > 1.1*part.speedup("abp", k),
					"with %s processes ours reaches %s, MBWS %s, ABP %s", k, significant(part.speedup(ours, k)),
					significant(part.speedup("mbws", k)), significant(part.speedup("abp", k)))
			},
		},
	},
}

// planCoRuns plans the analysis of a circuit alone, and by several processes at once.
func planCoRuns(p *Plan, circuit string, corners, ops int, processes []int) {
	for policy := range strings.SplitSeq(fig4Policies, ",") {
		args := fmt.Sprintf("run sta -circuit %s -corners %d -n %d -policy %s -workers %d", circuit, corners, ops,
			policy, p.Cores)
		p.alone(2*time.Second, map[string]string{"processes": "1"}, args+fmt.Sprintf(" -reps %d", p.reps(5, 5)))
		for _, k := range processes {
			var programs []Program
			for i := range k {
				tags := map[string]string{"processes": fmt.Sprint(k), "process": fmt.Sprint(i + 1)}
				programs = append(programs, p.program(tags, args))
			}
			p.together(time.Duration(k+1)*time.Second, programs...)
		}
	}
}

// speedup returns the weighted speed-up of k processes under a policy.
func (d *Data) speedup(policy, k string) (sum float64) {
	part := d.where("policy=%s processes=%s", policy, k)
	solo := d.where("policy=%s processes=1", policy).stat("wall_ns").Mean
	if len(part.Rows) == 0 {
		return math.NaN()
	}
	for _, i := range part.values("process") {
		sum += solo / part.where("process=%s", i).stat("wall_ns").Mean
	}
	return sum
}

var lemma2 = &Experiment{
	ID: "000/lemma2", Place: "Section II-D, lemma 2",
	About: "thieves that are awake during one long task, after many tasks at once",
	Notes: "The states of the workers' threads are those that the kernel tells. S, the time of a steal, is that of " +
		"a steal " +
		"from an empty deque and a yield, on this machine; threads that share a core take turns.",
	plan: func(p *Plan) {
		for _, w := range p.workers() {
			if w < 4 {
				continue // with 2 there is one thief
			}
			p.run(3*time.Second, "awake -policy adaptive,%s,mbws,abp,taskflow -workers %d -n 50 -reps %d", ours, w,
				p.reps(5, 10))
		}
	},
	figures: func(d *Data) []*Figure {
		w := d.last("workers")
		f := chart{
			file: "000-lemma2", title: "Awake thieves, " + w + " workers", xLabel: "ms since the long task began",
			yLabel: "thieves",
		}.frame("steps")
		f.Y.Zero = true
		for _, policy := range d.values("policy") {
			part := d.where("workers=%s policy=%s", w, policy)
			s := Series{Name: policy}
			for _, us := range part.instants() {
				s.Points = append(s.Points, Point{X: us / 1000, Y: part.stat(fmt.Sprintf("thieves@%.0f", us)).Mean})
			}
			f.add(s)
		}
		if bound := d.where("workers=%s", w).stat("bound-ns").Median / 1e6; bound > 0 {
			f.Note = fmt.Sprintf("The bound of the lemma is about %s ms here.", significant(bound))
		}
		return []*Figure{f}
	},
	columns: []string{"workers", "policy"},
	metrics: []metric{{"settled-ns", "until one thief is left, ms", 1e-6}, {"bound-ns", "bound, ms", 1e-6},
		{"late-thieves", "thieves in the second half", 1}, {"samples", "looks", 1}},
	claims: []*Claim{{
		ID: "000/lemma2 bound", Place: "II-D, lemma 2",
		Says: "Of a group of thieves only one is left after O((STEAL_BOUND + YIELD_BOUND) S + C).",
		judge: func(d *Data) Verdict {
			held, found := true, []string{}
			for _, w := range d.values("workers") {
				part := d.where("workers=%s policy=%s", w, ours)
				settled, bound := part.stat("settled-ns").Median, part.stat("bound-ns").Median
				held = held && settled <= bound+1e6 // C: a thread that has been told to sleep may have lost its core
				found = append(found, fmt.Sprintf("%s workers: %s, bound %s", w, ms(settled), ms(bound)))
			}
			return verdict(held, "until one was left, with %s", strings.Join(found, "; "))
		},
	}},
}

// instants returns the times in µs for which probe awake tells the mean number of thieves.
func (d *Data) instants() (all []float64) {
	for _, r := range d.Rows[:min(1, len(d.Rows))] {
		for name := range r.Figures {
			var us float64
			if n, _ := fmt.Sscanf(name, "thieves@%g", &us); n == 1 {
				all = append(all, us)
			}
		}
	}
	slices.Sort(all)
	return all
}
