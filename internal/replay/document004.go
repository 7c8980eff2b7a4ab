package replay

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/magpie-go/magpie/internal/switches"
)

// The experiments of document 004: ABP is its original Cilk++, and bws-clock its BWS, with the peer's CPU clock in
// place of the kernel's answer whether the peer runs. adaptive is our default policy, in the same co-runs.
var document004 = []*Experiment{sec2, table1Of004, solo004, fig2Of004, fig3Of004, fig4Of004, fig5Of004, fig6Of004,
	sec55}

const (
	balanced    = "bws-clock"
	policies004 = "abp," + balanced + ",adaptive"
	document4   = "The document has 32 cores, 32 workers a program and a kernel with two more system calls. Here " +
		"each program " +
		"has as many workers as there are cores, and the kernel is a stock one."
)

// An app is one of the document's benchmarks.
type app struct {
	name           string // of the workload
	group          int    // 1 scales well, 2 does not
	here, document int    // n
}

var apps = []app{
	{"bfs", 1, 1 << 18, 10000000},
	{"ep", 1, 22, 30},
	{"mm", 1, 512, 1600},
	{"raytracer", 1, 200, 800},
	{"loop", 1, 150, 100000},
	{"cg", 2, 1400, 75000},
	{"clip", 2, 20000, 1000000},
	{"mi", 2, 400, 500},
}

// isLoop reports whether a is the one that is not of work stealing: plain threads.
func (a app) isLoop() bool { return a.name == "loop" }

// args returns the run of a under a policy with that many workers.
func (a app) args(p *Plan, policy string, workers int) string {
	if a.isLoop() {
		return fmt.Sprintf("run loop -engine goroutines -n %d -workers %d", p.size(a.here, a.document), workers)
	}
	return fmt.Sprintf("run %s -policy %s -n %d -workers %d", a.name, policy, p.size(a.here, a.document), workers)
}

// A pair of benchmarks that run together.
type pair struct{ a, b app }

func (c pair) String() string { return c.a.name + "+" + c.b.name }

// pairs returns all combinations of two benchmarks.
func pairs() (all []pair) {
	for i, a := range apps {
		for _, b := range apps[i+1:] {
			all = append(all, pair{a, b})
		}
	}
	return all
}

// somePairs are those that the document names, and some more of each kind. Ablations take them at default size.
func somePairs() (some []pair) {
	for _, c := range pairs() {
		switch c.String() {
		case "bfs+ep", "mm+cg", "mm+clip", "ep+mi", "bfs+cg", "raytracer+clip":
			some = append(some, c)
		}
	}
	return some
}

// sec2Pairs are those of section 2.
func sec2Pairs() []pair {
	return slices.DeleteFunc(somePairs(), func(c pair) bool { return c.String() != "bfs+ep" && c.String() != "mm+cg" })
}

// kind returns the panel of figure 2 in which c is.
func (c pair) kind() string {
	switch {
	case c.a.group != c.b.group:
		return "mixed"
	case c.a.group == 1:
		return "group_1"
	}
	return "group_2"
}

// planSolo plans each benchmark alone.
func planSolo(p *Plan, policies string) {
	for _, a := range apps {
		if a.isLoop() {
			p.alone(2*time.Second, map[string]string{"co": "alone"}, a.args(p, "", p.Cores)+fmt.Sprintf(" -reps %d",
				p.reps(7, 5)))
			continue
		}
		p.alone(3*time.Second, map[string]string{"co": "alone"}, a.args(p, policies, p.Cores)+fmt.Sprintf(" -reps %d",
			p.reps(7, 5)))
	}
}

// planPairs plans co-runs of both programs under the same policy.
func planPairs(p *Plan, some []pair, policies string) {
	for policy := range strings.SplitSeq(policies, ",") {
		for _, c := range some {
			tags := func(other app) map[string]string {
				return map[string]string{"co": c.String(), "under": policy, "kind": c.kind(), "beside": other.name}
			}
			p.together(2*time.Second, p.program(tags(c.b), c.a.args(p, policy, p.Cores)),
				p.program(tags(c.a), c.b.args(p, policy, p.Cores)))
		}
	}
}

// solo returns the mean time of a benchmark alone.
func (d *Data) solo(name, policy string) float64 {
	if name == "loop" {
		policy = "none"
	}
	return d.where("co=alone workload=%s policy=%s", name, policy).stat("wall_ns").Mean
}

// slowdown returns by how much a benchmark is slowed down in a co-run: (Tc-Ts)/Ts.
func (d *Data) slowdown(co, name, policy string) float64 {
	return d.where("co=%s under=%s workload=%s", co, policy, name).stat("wall_ns").Mean/d.solo(name, policy) - 1
}

// names returns the two benchmarks of a co-run.
func names(co string) (a, b string) {
	a, b, _ = strings.Cut(co, "+")
	return a, b
}

// unfairness returns the difference of the slowdowns in a co-run.
func (d *Data) unfairness(co, policy string) float64 {
	a, b := names(co)
	return math.Abs(d.slowdown(co, a, policy) - d.slowdown(co, b, policy))
}

// weighted returns the weighted speed-up of a co-run. Document 004 takes the solo time under ABP for all policies,
// document 000 that under the same policy.
func (d *Data) weighted(co, policy, base string) (sum float64) {
	a, b := names(co)
	for _, name := range []string{a, b} {
		sum += d.solo(name, base) / d.where("co=%s under=%s workload=%s", co, policy, name).stat("wall_ns").Mean
	}
	return sum
}

// coRuns returns the co-runs of a kind, or all if kind is empty.
func (d *Data) coRuns(kind string) (all []string) {
	for _, co := range d.values("co") {
		if co != "alone" && (kind == "" || len(d.where("co=%s kind=%s", co, kind).Rows) > 0) {
			all = append(all, co)
		}
	}
	return all
}

// mean returns the mean of f over co-runs.
func mean(coRuns []string, f func(co string) float64) float64 {
	sum := 0.0
	for _, co := range coRuns {
		sum += f(co)
	}
	return sum / float64(len(coRuns)) // NaN without any
}

// pct formats a share as percent.
func pct(x float64) string { return fmt.Sprintf("%.0f %%", 100*x) }

// coMetrics are the columns of tables of co-runs.
var (
	coColumns = []string{"co", "under", "workload", "policy", "workers"}
	coMetrics = []metric{
		wallMS, util, {"vctx", "voluntary switches", 1}, {"ictx", "involuntary switches", 1},
		{"switches", "recorded switches", 1}, {"to-thief-switches", "to thieves", 1},
		{"external-switches", "to the other program", 1}, steals, parks,
	}
)

var sec2 = &Experiment{
	ID: "004/sec2", Place: "Section 2.3.2",
	About: "BFS beside EP, and CG beside MM, under ABP: slowdowns, with fewer workers, and without yields",
	Notes: document4,
	plan: func(p *Plan) {
		planSolo(p, policies004)
		for _, a := range apps[:1] { // the time of BFS on one core, for its speed-up
			p.alone(2*time.Second, map[string]string{"co": "serial"}, fmt.Sprintf("run %s -engine serial -n %d "+
				"-reps %d", a.name,
				p.size(a.here, a.document), p.reps(7, 5)))
		}
		planPairs(p, sec2Pairs(), "abp,"+"abp+yields=never")
		mm, cg := apps[2], apps[5]
		few := max(1, p.Cores/2)
		tags := map[string]string{"co": "mm+cg", "under": halfWorkers, "kind": "mixed"}
		p.together(2*time.Second, p.program(tags, mm.args(p, "abp", p.Cores)), p.program(tags, cg.args(p, "abp", few)))
	},
	figures: func(d *Data) []*Figure {
		f := chart{file: "004-sec2", title: "Slowdown beside each other", yLabel: "slowdown, %"}.frame("bars")
		f.Y.Zero = true
		under := []string{"abp", halfWorkers, "abp+yields=never"}
		f.X.Categories = []string{"bfs beside ep", "ep beside bfs", "cg beside mm", "mm beside cg"}
		for _, u := range under {
			s := Series{Name: u}
			for i, c := range []struct{ co, name string }{{"bfs+ep", "bfs"}, {"bfs+ep", "ep"}, {"mm+cg", "cg"},
				{"mm+cg", "mm"}} {
				if y := 100 * d.sec2Slowdown(c.co, c.name, u); !math.IsNaN(y) {
					s.Points = append(s.Points, Point{X: float64(i), Y: y})
				}
			}
			f.add(s)
		}
		return []*Figure{f}
	},
	columns: coColumns, metrics: coMetrics,
	claims: []*Claim{
		{
			ID: "004/sec2 unfair", Place: "2.3.2",
			Says: "Beside each other, BFS is slowed down by 377 % and EP by 5 %: an unfairness of 372 %.",
			judge: func(d *Data) Verdict {
				bfs, ep := d.sec2Slowdown("bfs+ep", "bfs", "abp"), d.sec2Slowdown("bfs+ep", "ep", "abp")
				return verdict(bfs > ep+0.5, "BFS %s, EP %s", pct(bfs), pct(ep))
			},
		},
		{
			ID: "004/sec2 active", Place: "2.3.2",
			Says: "BFS reaches a speed-up of 21 alone, and has only about 5 active workers beside EP.",
			judge: func(d *Data) Verdict {
				serial := d.where("co=serial workload=bfs").stat("wall_ns").Mean
				alone := serial / d.solo("bfs", "abp")
				beside := serial / d.where("co=bfs+ep under=abp workload=bfs").stat("wall_ns").Mean
				return verdict(beside < 0.5*alone, "speed-up %s alone, %s beside EP", significant(alone),
					significant(beside))
			},
		},
		{
			ID: "004/sec2 workers", Place: "2.3.2",
			Says: "CG and MM are slowed down by 144 % and 37 %; with half the workers for CG both are better: 97 % " +
				"and 12 %.",
			judge: func(d *Data) Verdict {
				cg, mm := d.sec2Slowdown("mm+cg", "cg", "abp"), d.sec2Slowdown("mm+cg", "mm", "abp")
				cg2, mm2 := d.sec2Slowdown("mm+cg", "cg", halfWorkers), d.sec2Slowdown("mm+cg", "mm", halfWorkers)
				return verdict(cg2 < cg-0.05 && mm2 < mm-0.05, "CG %s and MM %s; with half the workers for CG %s "+
					"and %s", pct(cg), pct(mm),
					pct(cg2), pct(mm2))
			},
		},
		{
			ID: "004/sec2 no-yield", Place: "2.3.2",
			Says: "Without yields CG is slowed down by more than 600 % and MM by about 100 %.",
			judge: func(d *Data) Verdict {
				cg, mm := d.sec2Slowdown("mm+cg", "cg", "abp+yields=never"), d.sec2Slowdown("mm+cg", "mm",
					"abp+yields=never")
				cgYields, mmYields := d.sec2Slowdown("mm+cg", "cg", "abp"), d.sec2Slowdown("mm+cg", "mm", "abp")
				return verdict(cg > cgYields+0.5 && mm > mmYields+0.2, "CG %s and MM %s; with yields %s and %s",
					pct(cg), pct(mm),
					pct(cgYields), pct(mmYields))
			},
		},
	},
}

// halfWorkers is the tag of the co-run in which CG has half the workers.
const halfWorkers = "abp,half-for-cg"

// sec2Slowdown is slowdown with the solo time under ABP.
func (d *Data) sec2Slowdown(co, name, under string) float64 {
	return d.where("co=%s under=%s workload=%s", co, under, name).stat("wall_ns").Mean/
		d.solo(name, "abp") - 1
}

var table1Of004 = &Experiment{
	ID: "004/table1", Place: "Section 5.1, Table 1",
	About: "the speed-ups of the benchmarks alone, by which the document divides them into two groups",
	Notes: document4,
	plan: func(p *Plan) {
		planSolo(p, policies004)
		for _, a := range apps {
			p.alone(2*time.Second, map[string]string{"co": "serial"}, fmt.Sprintf("run %s -engine serial -n %d "+
				"-reps %d", a.name,
				p.size(a.here, a.document), p.reps(7, 5)))
		}
	},
	figures: func(d *Data) []*Figure {
		f := chart{file: "004-table1", title: "Speed-up alone", yLabel: "speed-up"}.frame("bars")
		f.Y.Zero = true
		for _, policy := range strings.Split(policies004, ",") {
			s := Series{Name: policy}
			f.X.Categories = nil
			for i, a := range apps {
				f.X.Categories = append(f.X.Categories, a.name)
				if y := d.speedupOf(a.name, policy); !math.IsNaN(y) {
					s.Points = append(s.Points, Point{X: float64(i), Y: y})
				}
			}
			f.add(s)
		}
		return []*Figure{f}
	},
	columns: coColumns, metrics: coMetrics,
	claims: []*Claim{{
		ID: "004/table1 groups", Place: "5.1, Table 1",
		Says: "BFS, EP, MM, RayTracer and LOOP reach speed-ups of more than 20 with 32 cores, CG, CLIP and MI less " +
			"than 16: " +
			"scaled, more and less than 0.6 of the cores.",
		judge: needsCores(8, func(d *Data) Verdict {
			held, found := true, []string{}
			for _, a := range apps {
				s := d.speedupOf(a.name, "abp") / float64(d.Env.Cores)
				held = held && (a.group == 1) == (s > 0.6)
				found = append(found, fmt.Sprintf("%s %s", a.name, significant(d.speedupOf(a.name, "abp"))))
			}
			return verdict(held, "speed-ups with %d cores: %s", d.Env.Cores, strings.Join(found, ", "))
		}),
	}},
}

func (d *Data) speedupOf(name, policy string) float64 {
	return d.where("co=serial workload=%s", name).stat("wall_ns").Mean / d.solo(name, policy)
}

var solo004 = &Experiment{
	ID: "004/solo", Place: "Section 5.2, footnote 4",
	About:   "the benchmarks alone: BWS against ABP",
	Notes:   document4,
	plan:    func(p *Plan) { planSolo(p, policies004) },
	columns: coColumns, metrics: coMetrics,
	claims: []*Claim{{
		ID: "004/solo cost", Place: "5.2, footnote 4",
		Says: "Alone, BWS takes about as long as ABP: 0.4 % more on average.",
		judge: func(d *Data) Verdict {
			sum, n, found := 0.0, 0.0, []string{}
			for _, a := range apps {
				if a.isLoop() {
					continue
				}
				x := d.solo(a.name, balanced) / d.solo(a.name, "abp")
				sum += x - 1
				n++
				found = append(found, a.name+" "+percent(x, 1))
			}
			return verdict(sum/n < 0.05, "on average %+.1f %%: %s", 100*sum/n, strings.Join(found, ", "))
		},
	}},
}

// planAllPairs plans what figures 2 to 4 share.
func planAllPairs(p *Plan) {
	planSolo(p, policies004)
	planPairs(p, pairs(), policies004)
}

// spaced returns a kind of pair for people.
func spaced(kind string) string { return strings.ReplaceAll(kind, "_", " ") }

var kinds004 = []string{"group_1", "group_2", "mixed"}

// perCoRun draws bars of f for each co-run of a kind, under each policy, and their average.
func (d *Data) perCoRun(file, title, label, kind string, f func(co, policy string) float64) *Figure {
	fig := chart{file: file, title: title, yLabel: label}.frame("bars")
	fig.Y.Zero = true
	runs := d.coRuns(kind)
	fig.X.Categories = append(append([]string(nil), runs...), "average")
	for policy := range strings.SplitSeq(policies004, ",") {
		s := Series{Name: policy}
		for i, co := range runs {
			if y := f(co, policy); !math.IsNaN(y) {
				s.Points = append(s.Points, Point{X: float64(i), Y: y})
			}
		}
		if y := mean(runs, func(co string) float64 { return f(co, policy) }); !math.IsNaN(y) {
			s.Points = append(s.Points, Point{X: float64(len(runs)), Y: y})
		}
		fig.add(s)
	}
	return fig
}

// slowdowns draws the slowdown of each benchmark beside each other one of a kind of co-run.
func (d *Data) slowdowns(file, kind string) *Figure {
	f := chart{file: file, title: "Slowdowns, " + spaced(kind), yLabel: "slowdown, %"}.frame("bars")
	f.Y.Zero = true
	for policy := range strings.SplitSeq(policies004, ",") {
		s := Series{Name: policy}
		f.X.Categories = nil
		for _, co := range d.coRuns(kind) {
			a, b := names(co)
			for _, c := range []struct{ own, other string }{{a, b}, {b, a}} {
				at := float64(len(f.X.Categories))
				f.X.Categories = append(f.X.Categories, c.own+" beside "+c.other)
				s.Points = append(s.Points, Point{X: at, Y: 100 * d.slowdown(co, c.own, policy)})
			}
		}
		f.add(s)
	}
	return f
}

var fig2Of004 = &Experiment{
	ID: "004/fig2", Place: "Section 5.2, figure 2",
	About: "slowdowns and unfairness of all pairs of benchmarks",
	Notes: document4 + " A program repeats its benchmark until both have run it often enough. Unfairness is the " +
		"larger slowdown " +
		"less the smaller. The solo time is that under the same policy. Recorded switches are from and to the " +
		"threads of a " +
		"program, also between its repetitions; voluntary and involuntary ones are from them, within repetitions only.",
	plan: planAllPairs,
	figures: func(d *Data) (all []*Figure) {
		for i, kind := range kinds004 {
			all = append(all, d.perCoRun(fmt.Sprintf("004-fig2%c", 'a'+i), "Unfairness, "+spaced(kind),
				"unfairness, %", kind,
				func(co, policy string) float64 { return 100 * d.unfairness(co, policy) }))
			all = append(all, d.slowdowns(fmt.Sprintf("004-fig2%c-slowdowns", 'a'+i), kind))
		}
		return all
	},
	columns: coColumns, metrics: coMetrics,
	claims: []*Claim{
		unfairnessClaim("group_1", 0.73, 0.30), unfairnessClaim("group_2", 1.60, 0.22), unfairnessClaim("mixed", 1.51,
			0.13),
		{
			ID: "004/fig2 overall", Place: "abstract, 5.2",
			Says: "BWS reduces the average unfairness from 124 % to 20 %.",
			judge: func(d *Data) Verdict {
				all := d.coRuns("")
				u := func(policy string) float64 {
					return mean(all, func(co string) float64 { return d.unfairness(co, policy) })
				}
				return verdict(u("abp") >= 0.2 && u(balanced) < 0.6*u("abp"), "ABP %s, %s %s, adaptive %s, over %d "+
					"pairs", pct(u("abp")), balanced,
					pct(u(balanced)), pct(u("adaptive")), len(all))
			},
		},
		exampleClaim("mm+clip", "CLIP is slowed down by 358 % and MM by 7 % under ABP, and by 36 % and 47 % under "+
			"BWS.", "clip", "mm"),
		exampleClaim("ep+mi", "MI is slowed down by 304 % and EP by 5 % under ABP, and by 61 % and 56 % under BWS.",
			"mi", "ep"),
		{
			ID: "004/fig2 switches", Place: "5.2",
			Says: "BWS has 98 % fewer context switches with CLIP and MM, 99 % fewer with MI and EP, and for most " +
				"pairs 70 % fewer.",
			judge: func(d *Data) Verdict {
				count := func(co, policy string) float64 {
					if d.recorded() {
						return d.perRun(co, policy, "switches")
					}
					return d.perRun(co, policy, "vctx") + d.perRun(co, policy, "ictx")
				}
				fewer, all, found := 0, d.coRuns("mixed"), []string{}
				for _, co := range all {
					x := count(co, balanced) / count(co, "abp")
					if math.IsNaN(x) {
						return verdict(false, "NaN")
					}
					if x < 0.3 {
						fewer++
					}
					if co == "mm+clip" || co == "ep+mi" {
						found = append(found, co+" "+percent(x, 1))
					}
				}
				source := "voluntary and involuntary together"
				if d.recorded() {
					source = "by the kernel's records" + d.lostRecords()
				}
				return verdict(2*fewer > len(all), "70 %% fewer in %d of %d pairs; %s (%s)", fewer, len(all),
					strings.Join(found, ", "), source)
			},
		},
		{
			ID: "004/fig2 to-thief", Place: "5.2",
			Says: "93 % of the context switches are to thieves under ABP, and 32 % under BWS.",
			judge: needsRecords(func(d *Data) Verdict {
				// The document's figures are those of co-runs of both groups.
				share := func(policy string) float64 {
					toThief, all := 0.0, 0.0
					for _, co := range d.coRuns("mixed") {
						toThief += d.perRun(co, policy, "to-thief-switches")
						all += d.perRun(co, policy, "switches")
					}
					return toThief / all
				}
				abp, bws := share("abp"), share(balanced)
				return verdict(abp > 0.5 && bws < 0.5*abp, "ABP %s, %s %s, adaptive %s; a thief is a thread that "+
					"gives its core "+
					"up within %v%s", pct(abp), balanced, pct(bws), pct(share("adaptive")), switches.ThiefTime,
					d.lostRecords())
			}),
		},
		{
			ID: "004/fig2 external", Place: "5.2",
			Says: "For BFS and group 2, BWS has 45 % to 96 % fewer switches to the other program.",
			judge: needsRecords(func(d *Data) Verdict {
				held, found := true, []string{}
				for _, a := range apps {
					if a.name != "bfs" && a.group != 2 {
						continue
					}
					external := func(policy string) (sum float64) {
						for _, co := range d.where("kind=mixed workload=%s", a.name).values("co") {
							sum += d.where("co=%s workload=%s under=%s", co, a.name,
								policy).stat("external-switches").Mean
						}
						return sum
					}
					x := external(balanced) / external("abp")
					held = held && x <= 0.55
					found = append(found, a.name+" "+percent(x, 1))
				}
				return verdict(held, "%s%s", strings.Join(found, ", "), d.lostRecords())
			}),
		},
	},
}

// perRun returns the mean of a figure of a repetition of both programs of a co-run: a program that is faster has more
// repetitions, and counts no more.
func (d *Data) perRun(co, policy, figure string) (sum float64) {
	a, b := names(co)
	for _, name := range []string{a, b} {
		sum += d.where("co=%s under=%s workload=%s", co, policy, name).stat(figure).Mean
	}
	return sum
}

// recorded reports whether the switches of all co-runs were recorded.
func (d *Data) recorded() bool {
	found := false
	for _, r := range d.Rows {
		if r.Settings["under"] == "" {
			continue
		}
		if _, found = r.Figures["switches"]; !found {
			return false
		}
	}
	return found
}

// lostRecords returns a remark if some records were lost.
func (d *Data) lostRecords() string {
	lost, n := 0, 0
	for _, r := range d.Rows {
		if records, ok := r.Figures["lost-switch-records"]; ok {
			n++
			if records > 0 {
				lost++
			}
		}
	}
	if lost == 0 {
		return ""
	}
	return fmt.Sprintf("; some records were lost in %d of %d repetitions", lost, n)
}

// needsRecords judges only by the kernel's records of the switches.
func needsRecords(judge func(*Data) Verdict) func(*Data) Verdict {
	return func(d *Data) Verdict {
		if d.recorded() {
			return judge(d)
		}
		needs := "the kernel's switch records of all co-runs"
		if len(d.Unrecorded) > 0 {
			needs += ": " + strings.Join(d.Unrecorded, "; ")
		}
		return Verdict{CannotShow, "the kernel's counts of voluntary and involuntary switches only", needs}
	}
}

func unfairnessClaim(kind string, abp, bws float64) *Claim {
	return &Claim{
		ID: "004/fig2 " + strings.ReplaceAll(kind, "_", "-"), Place: "5.2, fig. 2",
		Says: fmt.Sprintf("The average unfairness of pairs (%s) is %s under ABP and %s under BWS.", spaced(kind),
			pct(abp), pct(bws)),
		judge: func(d *Data) Verdict {
			runs := d.coRuns(kind)
			u := func(policy string) float64 {
				return mean(runs, func(co string) float64 { return d.unfairness(co, policy) })
			}
			return verdict(u("abp") >= 0.2 && u(balanced) < 0.6*u("abp"), "ABP %s, %s %s, adaptive %s", pct(u("abp")),
				balanced, pct(u(balanced)),
				pct(u("adaptive")))
		},
	}
}

func exampleClaim(co, says, weak, strong string) *Claim {
	return &Claim{
		ID: "004/fig2 " + co, Place: "5.2, fig. 2", Says: says,
		judge: func(d *Data) Verdict {
			s := d.slowdown
			return verdict(s(co, weak, "abp") > s(co, strong, "abp")+0.2 && d.unfairness(co,
				balanced) < 0.5*d.unfairness(co, "abp"),
				"under ABP %s is slowed down by %s and %s by %s; under %s by %s and %s", weak, pct(s(co, weak,
					"abp")), strong,
				pct(s(co, strong, "abp")), balanced, pct(s(co, weak, balanced)), pct(s(co, strong, balanced)))
		},
	}
}

var fig3Of004 = &Experiment{
	ID: "004/fig3", Place: "Section 5.2, figure 3",
	About: "weighted speed-up of all pairs of benchmarks",
	Notes: "The solo time is that under ABP for all policies, as in document 004; the second figure of each kind " +
		"is with the " +
		"solo time of the same policy, as in document 000.",
	plan: planAllPairs,
	figures: func(d *Data) (all []*Figure) {
		for i, kind := range kinds004 {
			all = append(all,
				d.perCoRun(fmt.Sprintf("004-fig3%c", 'a'+i), "Weighted speed-up, "+spaced(kind), "weighted speed-up",
					kind,
					func(co, policy string) float64 { return d.weighted(co, policy, "abp") }),
				d.perCoRun(fmt.Sprintf("004-fig3%c-own", 'a'+i), "The same, own solo time, "+spaced(kind),
					"weighted speed-up", kind,
					func(co, policy string) float64 { return d.weighted(co, policy, policy) }))
		}
		return all
	},
	columns: coColumns, metrics: coMetrics,
	claims: []*Claim{
		throughputClaim("group_1", 4), throughputClaim("group_2", 33), throughputClaim("mixed", 11),
		{
			ID: "004/fig3 overall", Place: "abstract, 5.2",
			Says: "BWS increases the average throughput by 12.5 %, from 1.20 under ABP.",
			judge: func(d *Data) Verdict {
				all := d.coRuns("")
				t := func(policy, base string) float64 {
					return mean(all, func(co string) float64 { return d.weighted(co, policy, base) })
				}
				return verdict(t(balanced, "abp") > 1.06*t("abp", "abp"),
					"ABP %s, %s %s, adaptive %s; with the solo time of the same policy %s, %s and %s",
					significant(t("abp", "abp")),
					balanced, significant(t(balanced, "abp")), significant(t("adaptive", "abp")), significant(t("abp",
						"abp")),
					significant(t(balanced, balanced)), significant(t("adaptive", "adaptive")))
			},
		},
	},
}

func throughputClaim(kind string, more int) *Claim {
	return &Claim{
		ID: "004/fig3 " + strings.ReplaceAll(kind, "_", "-"), Place: "5.2, fig. 3",
		Says: fmt.Sprintf("For pairs (%s) BWS increases the throughput by %d %%.", spaced(kind), more),
		judge: func(d *Data) Verdict {
			runs := d.coRuns(kind)
			t := func(policy string) float64 {
				return mean(runs, func(co string) float64 { return d.weighted(co, policy, "abp") })
			}
			return verdict(t(balanced) > (1+float64(more)/200)*t("abp"), "ABP %s, %s %s (%s), adaptive %s",
				significant(t("abp")), balanced,
				significant(t(balanced)), percent(t(balanced), t("abp")), significant(t("adaptive")))
		},
	}
}

// variation returns the mean coefficient of variation of a benchmark's times over the co-runs that f accepts.
func (d *Data) variation(name, policy string, accept func(beside app) bool) float64 {
	sum, n := 0.0, 0.0
	for _, other := range apps {
		if other.name == name || !accept(other) {
			continue
		}
		s := d.where("workload=%s beside=%s under=%s", name, other.name, policy).stat("wall_ns")
		if s.N > 1 {
			sum += s.Deviation / s.Mean
			n++
		}
	}
	return sum / n
}

// types are the kinds of executions of figure 4 (b): a benchmark of one group beside one of another.
var types = []struct{ own, beside int }{{2, 2}, {2, 1}, {1, 2}, {1, 1}}

func (d *Data) variationOf(own, beside int, policy string) float64 {
	sum, n := 0.0, 0.0
	for _, a := range apps {
		if a.group == own {
			sum += d.variation(a.name, policy, func(o app) bool { return o.group == beside })
			n++
		}
	}
	return sum / n
}

var fig4Of004 = &Experiment{
	ID: "004/fig4", Place: "Section 5.2, figure 4",
	About: "variation of the times in co-runs",
	Notes: "The coefficient of variation is the standard deviation over the mean.",
	plan:  planAllPairs,
	figures: func(d *Data) []*Figure {
		a := chart{file: "004-fig4a", title: "By benchmark", yLabel: "coefficient of variation, %"}.frame("bars")
		b := chart{file: "004-fig4b", title: "By type of execution",
			yLabel: "coefficient of variation, %"}.frame("bars")
		a.Y.Zero, b.Y.Zero = true, true
		b.X.Categories = []string{"type 1", "type 2", "type 3", "type 4"}
		for _, x := range apps {
			a.X.Categories = append(a.X.Categories, x.name)
		}
		for policy := range strings.SplitSeq(policies004, ",") {
			s, t := Series{Name: policy}, Series{Name: policy}
			for i, x := range apps {
				if y := 100 * d.variation(x.name, policy, func(app) bool { return true }); !math.IsNaN(y) {
					s.Points = append(s.Points, Point{X: float64(i), Y: y})
				}
			}
			for i, k := range types {
				if y := 100 * d.variationOf(k.own, k.beside, policy); !math.IsNaN(y) {
					t.Points = append(t.Points, Point{X: float64(i), Y: y})
				}
			}
			a.add(s)
			b.add(t)
		}
		return []*Figure{a, b}
	},
	columns: []string{"workload", "under", "beside"},
	metrics: []metric{wallMS},
	claims: []*Claim{
		{
			ID: "004/fig4 benchmarks", Place: "5.2, fig. 4 (a)",
			Says: "With BWS the average coefficient of variation of every benchmark is below 10 %.",
			judge: func(d *Data) Verdict {
				held, found := true, []string{}
				for _, a := range apps {
					v := func(policy string) float64 {
						return d.variation(a.name, policy,
							func(app) bool { return true })
					}
					held = held && v(balanced) < 0.1
					found = append(found, fmt.Sprintf("%s %s (ABP %s)", a.name, pct(v(balanced)), pct(v("abp"))))
				}
				return verdict(held, "%s", strings.Join(found, ", "))
			},
		},
		{
			ID: "004/fig4 type2", Place: "5.2, fig. 4 (b)",
			Says: "For executions of group 2 beside group 1, BWS reduces it from 37 % to 10 %.",
			judge: func(d *Data) Verdict {
				abp, bws := d.variationOf(2, 1, "abp"), d.variationOf(2, 1, balanced)
				return verdict(abp >= 0.1 && bws < 0.6*abp, "ABP %s, %s %s, adaptive %s", pct(abp), balanced, pct(bws),
					pct(d.variationOf(2, 1, "adaptive")))
			},
		},
		{
			ID: "004/fig4 range", Place: "5.2",
			Says: "Beside MM, CG takes 35 to 65 s under ABP, and 23 to 29 s under BWS.",
			judge: func(d *Data) Verdict {
				abp := d.where("workload=cg beside=mm under=abp").stat("wall_ns")
				bws := d.where("workload=cg beside=mm under=%s", balanced).stat("wall_ns")
				return verdict(bws.Deviation/bws.Mean < 0.6*abp.Deviation/abp.Mean, "ABP %s to %s, %s %s to %s",
					ms(abp.Least), ms(abp.Most),
					balanced, ms(bws.Least), ms(bws.Most))
			},
		},
		{
			ID: "004/fig4 reduction", Place: "1",
			Says: "On average BWS reduces the coefficient of variation by more than 11 %, which is taken as " +
				"percent points.",
			judge: func(d *Data) Verdict {
				abp, bws := 0.0, 0.0
				for _, a := range apps {
					abp += d.variation(a.name, "abp", func(app) bool { return true }) / float64(len(apps))
					bws += d.variation(a.name, balanced, func(app) bool { return true }) / float64(len(apps))
				}
				return verdict(abp-bws > 0.11, "from %s to %s", pct(abp), pct(bws))
			},
		},
	},
}

// averages draws the average unfairness and throughput of some pairs under each of the policies.
func (d *Data) averages(file, title string, policies []string, label func(string) string) []*Figure {
	unfair := chart{file: file + "-unfairness", title: title, yLabel: "average unfairness, %"}.frame("bars")
	speed := chart{file: file + "-throughput", title: title, yLabel: "average weighted speed-up"}.frame("bars")
	unfair.Y.Zero, speed.Y.Zero = true, true
	var u, t Series
	for i, policy := range policies {
		runs := d.where("under=%s", policy).coRuns("")
		unfair.X.Categories = append(unfair.X.Categories, label(policy))
		speed.X.Categories = unfair.X.Categories
		if y := mean(runs, func(co string) float64 { return d.unfairness(co, policy) }); !math.IsNaN(y) {
			u.Points = append(u.Points, Point{X: float64(i), Y: 100 * y})
		}
		if y := mean(runs, func(co string) float64 { return d.weighted(co, policy, "abp") }); !math.IsNaN(y) {
			t.Points = append(t.Points, Point{X: float64(i), Y: y})
		}
	}
	u.Name, t.Name = "unfairness", "weighted speed-up"
	unfair.add(u)
	speed.add(t)
	return []*Figure{unfair, speed}
}

// ablationPairs returns the pairs of ablations: all at the document's size.
func ablationPairs(p *Plan) []pair {
	if p.Full {
		return pairs()
	}
	return somePairs()
}

const (
	delayed   = "abp+yields=delayed"
	selective = "abp+yields=selective"
)

var fig5Of004 = &Experiment{
	ID: "004/fig5", Place: "Section 5.3, figure 5",
	About: "alternatives: delayed and selective yields",
	Notes: document4 + " At default size these are 6 pairs.",
	plan: func(p *Plan) {
		planSolo(p, policies004)
		planSolo(p, delayed+","+selective)
		planPairs(p, ablationPairs(p), "abp,"+balanced+","+delayed+","+selective)
	},
	figures: func(d *Data) []*Figure {
		return d.averages("004-fig5", "Alternatives", []string{"abp", delayed, selective, balanced},
			func(p string) string {
				return strings.TrimPrefix(p, "abp+yields=")
			})
	},
	columns: coColumns, metrics: coMetrics,
	claims: []*Claim{
		{
			ID: "004/fig5 unfairness", Place: "5.3, fig. 5",
			Says: "Delayed and selective yields barely reduce the average unfairness: 108 % (selective) from 124 %.",
			judge: func(d *Data) Verdict {
				u := func(policy string) float64 {
					return mean(d.where("under=%s", policy).coRuns(""),
						func(co string) float64 { return d.unfairness(co, policy) })
				}
				return verdict(u(delayed) > 0.7*u("abp") && u(selective) > 0.7*u("abp"),
					"ABP %s, delayed %s, selective %s, %s %s",
					pct(u("abp")), pct(u(delayed)), pct(u(selective)), balanced, pct(u(balanced)))
			},
		},
		{
			ID: "004/fig5 throughput", Place: "5.3, fig. 5",
			Says: "Selective yields lower the average throughput by about 8 %, from 1.2 to 1.1.",
			judge: func(d *Data) Verdict {
				t := func(policy string) float64 {
					return mean(d.where("under=%s", policy).coRuns(""), func(co string) float64 {
						return d.weighted(co, policy, "abp")
					})
				}
				return verdict(t(selective) < 0.98*t("abp"), "ABP %s, delayed %s, selective %s, %s %s",
					significant(t("abp")),
					significant(t(delayed)), significant(t(selective)), balanced, significant(t(balanced)))
			},
		},
	},
}

// thresholds are those of figure 6. The default, 64, has no option in its name.
var thresholds = []struct {
	value  int
	policy string
}{
	{32, balanced + "+threshold=32"}, {64, balanced}, {256, balanced + "+threshold=256"},
	{4096, balanced + "+threshold=4096"},
}

var fig6Of004 = &Experiment{
	ID: "004/fig6", Place: "Section 5.4, figure 6",
	About: "the sleep threshold of BWS, from 32 to 4096",
	Notes: document4 + " At default size these are 6 pairs.",
	plan: func(p *Plan) {
		planSolo(p, policies004)
		for _, t := range thresholds {
			if t.policy != balanced {
				planSolo(p, t.policy)
			}
			planPairs(p, ablationPairs(p), t.policy)
		}
	},
	figures: func(d *Data) []*Figure {
		var policies []string
		for _, t := range thresholds {
			policies = append(policies, t.policy)
		}
		return d.averages("004-fig6", "Sleep threshold", policies, func(p string) string {
			for _, t := range thresholds {
				if t.policy == p {
					return fmt.Sprint(t.value)
				}
			}
			return p
		})
	},
	columns: coColumns, metrics: coMetrics,
	claims: []*Claim{{
		ID: "004/fig6 threshold", Place: "5.4, fig. 6",
		Says: "32: unfairness 32 %, throughput 1.44; 64: 20 %, 1.35; 256: 19 %, 1.33; 4096: 23 %, 1.29. " +
			"Throughput falls as the threshold rises.",
		judge: func(d *Data) Verdict {
			var found []string
			var speeds []float64
			for _, t := range thresholds {
				runs := d.where("under=%s", t.policy).coRuns("")
				u := mean(runs, func(co string) float64 { return d.unfairness(co, t.policy) })
				speed := mean(runs, func(co string) float64 { return d.weighted(co, t.policy, "abp") })
				speeds = append(speeds, speed)
				found = append(found, fmt.Sprintf("%d: %s, %s", t.value, pct(u), significant(speed)))
			}
			return verdict(speeds[0] > 1.01*speeds[len(speeds)-1], "%s", strings.Join(found, "; "))
		},
	}},
}

const (
	downgraded = balanced + "+busywakes"
	global     = "wsgi"
)

var sec55 = &Experiment{
	ID: "004/sec5.5", Place: "Section 5.5",
	About: "what the management of thieves costs: busy workers that wake sleepers, and global counts, alone",
	Notes: document4,
	plan:  func(p *Plan) { planSolo(p, balanced+","+downgraded+","+global) },
	figures: func(d *Data) []*Figure {
		f := chart{file: "004-sec5.5", title: "Time against BWS, alone", yLabel: "time, % of BWS"}.frame("bars")
		f.Y.Zero = true
		for _, policy := range []string{downgraded, global} {
			s := Series{Name: policy}
			f.X.Categories = nil
			for _, a := range apps {
				if a.isLoop() {
					continue
				}
				f.X.Categories = append(f.X.Categories, a.name)
				if y := 100 * d.solo(a.name, policy) / d.solo(a.name, balanced); !math.IsNaN(y) {
					s.Points = append(s.Points, Point{X: float64(len(f.X.Categories) - 1), Y: y})
				}
			}
			f.add(s)
		}
		return []*Figure{f}
	},
	columns: coColumns, metrics: coMetrics,
	claims: []*Claim{
		costClaim("downgraded", "Waking by busy workers costs 7 % on average, and 35 % for MI.", downgraded, 1.03),
		costClaim("global", "Global counts cost 43 % on average, and 177 % for CLIP.", global, 1.05),
	},
}

func costClaim(name, says, policy string, least float64) *Claim {
	return &Claim{
		ID: "004/sec5.5 " + name, Place: "5.5", Says: says,
		judge: needsCores(8, func(d *Data) Verdict {
			sum, n, found := 0.0, 0.0, []string{}
			for _, a := range apps {
				if a.isLoop() {
					continue
				}
				x := d.solo(a.name, policy) / d.solo(a.name, balanced)
				sum += x
				n++
				found = append(found, a.name+" "+percent(x, 1))
			}
			return verdict(sum/n > least, "%+.1f %% on average: %s", 100*(sum/n-1), strings.Join(found, ", "))
		}),
	}
}
