package replay

import (
	"fmt"
	"math"
	"strings"
)

// solo returns the mean time of a benchmark alone.
func (d *Data) solo(name, policy string) float64 {
	if name == "loop" {
		policy = "" // plain threads
	}
	return d.where("co=alone workload=%s policy=%s", name, policy).stat("ns/op").Mean
}

// slowdown returns by how much a benchmark is slowed down in a co-run: (Tc-Ts)/Ts.
func (d *Data) slowdown(co, name, policy string) float64 {
	return d.where("co=%s under=%s workload=%s", co, policy, name).stat("ns/op").Mean/d.solo(name, policy) - 1
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
		sum += d.solo(name, base) / d.where("co=%s under=%s workload=%s", co, policy, name).stat("ns/op").Mean
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

// perCoRun draws bars of f for each co-run of a kind, under each policy, and their average.
func (d *Data) perCoRun(file, title, label, kind string, f func(co, policy string) float64) *Figure {
	fig := chart{file: file, title: title, yLabel: label}.frame("bars")
	fig.Y.Zero = true
	runs := d.coRuns(kind)
	fig.X.Categories = append(append([]string(nil), runs...), "average")
	for policy := range strings.SplitSeq(policies004, ",") {
		s := Series{Name: policy}
		for i, co := range runs {
			s.at(i, f(co, policy))
		}
		s.at(len(runs), mean(runs, func(co string) float64 { return f(co, policy) }))
		fig.add(s)
	}
	return fig
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
		u.at(i, 100*mean(runs, func(co string) float64 { return d.unfairness(co, policy) }))
		t.at(i, mean(runs, func(co string) float64 { return d.weighted(co, policy, "abp") }))
	}
	u.Name, t.Name = "unfairness", "weighted speed-up"
	unfair.add(u)
	speed.add(t)
	return []*Figure{unfair, speed}
}
