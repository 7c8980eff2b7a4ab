package replay

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// meanTime returns the mean of the times, not a number without any. It is the mean of a bench.Stat, without the rest,
// which takes much longer.
func (d *Data) meanTime() float64 {
	sum, n := 0.0, 0.0
	for _, r := range d.Rows {
		if t, ok := r.Figure("ns/op"); ok {
			sum += t
			n++
		}
	}
	return sum / n
}

// solo returns the mean time of a benchmark alone.
func (d *Data) solo(name, policy string) float64 {
	if name == "loop" {
		policy = "" // plain threads
	}
	return d.where("co=alone workload=%s policy=%s", name, policy).meanTime()
}

// slowdown returns by how much a benchmark is slowed down in a co-run: (Tc-Ts)/Ts.
func (d *Data) slowdown(co, name, policy string) float64 {
	return d.where("co=%s under=%s workload=%s", co, policy, name).meanTime()/d.solo(name, policy) - 1
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
		sum += d.solo(name, base) / d.where("co=%s under=%s workload=%s", co, policy, name).meanTime()
	}
	return sum
}

// coRuns returns the co-runs of a kind, or all if kind is empty.
func (d *Data) coRuns(kind string) (all []string) {
	for _, co := range d.values("co") {
		if strings.Contains(co, "+") && (kind == "" || len(d.where("co=%s kind=%s", co, kind).Rows) > 0) {
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

// meanUnfairness returns the average unfairness of the co-runs under a policy.
func (d *Data) meanUnfairness(policy string) float64 {
	return mean(d.where("under=%s", policy).coRuns(""), func(co string) float64 { return d.unfairness(co, policy) })
}

// meanWeighted returns the average weighted speed-up of the co-runs under a policy, with the solo times under ABP.
func (d *Data) meanWeighted(policy string) float64 {
	return mean(d.where("under=%s", policy).coRuns(""), func(co string) float64 { return d.weighted(co, policy, "abp") })
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

// spaced returns a kind of pair for people.
func spaced(kind string) string { return strings.ReplaceAll(kind, "_", " ") }

var kinds004 = []string{"group_1", "group_2", "mixed"}

// byCoRun returns the part of d with each co-run of these and with its benchmarks alone.
func (d *Data) byCoRun(runs []string) map[string]*Data {
	parts := d.split("co")
	var alone map[string]*Data
	if parts["alone"] != nil {
		alone = parts["alone"].split("workload")
	}
	all := make(map[string]*Data)
	for _, co := range runs {
		all[co] = new(Data)
		a, b := names(co)
		for _, part := range []*Data{parts[co], alone[a], alone[b]} {
			if part != nil {
				all[co].Rows = append(all[co].Rows, part.Rows...)
			}
		}
	}
	return all
}

// ofKind returns the part of d with the co-runs of a kind and the benchmarks alone, without serial runs and the like.
func (d *Data) ofKind(kind string) *Data {
	part := d.where("co=alone")
	part.Rows = append(part.Rows, d.where("kind=%s", kind).Rows...)
	return part
}

// perCoRun draws dots of f for each co-run of a kind, under each policy, and their average.
func (d *Data) perCoRun(file, title, label, kind string, f func(d *Data, co, policy string) float64) *Figure {
	fig := chart{file: file, title: title, yLabel: label}.frame("dots")
	runs, policies := d.coRuns(kind), strings.Split(policies004, ",")
	return d.ofKind(kind).dots(fig, append(slices.Clip(runs), "average"), policies, func(d *Data) (all []float64) {
		parts := d.byCoRun(runs)
		for _, policy := range policies {
			sum := 0.0
			for _, co := range runs {
				y := f(parts[co], co, policy)
				all, sum = append(all, y), sum+y
			}
			all = append(all, sum/float64(len(runs))) // NaN without any
		}
		return all
	})
}

// averages draws the average unfairness and throughput of some pairs under each of the policies.
func (d *Data) averages(file, title string, policies []string, label func(string) string) []*Figure {
	unfair := chart{file: file + "-unfairness", title: title, yLabel: "average unfairness, %"}.frame("bars")
	speed := chart{file: file + "-throughput", title: title, yLabel: "average weighted speed-up"}.frame("bars")
	unfair.Y.Zero, speed.Y.Zero = true, true
	var u, t Series
	for i, policy := range policies {
		unfair.X.Categories = append(unfair.X.Categories, label(policy))
		speed.X.Categories = unfair.X.Categories
		u.at(i, 100*d.meanUnfairness(policy))
		t.at(i, d.meanWeighted(policy))
	}
	u.Name, t.Name = "unfairness", "weighted speed-up"
	unfair.add(u)
	speed.add(t)
	return []*Figure{unfair, speed}
}
