package replay

import (
	"fmt"
	"slices"
	"time"
)

// sec2Pairs are those of section 2.
func sec2Pairs() []pair {
	return slices.DeleteFunc(somePairs(), func(c pair) bool { return c.String() != "bfs+ep" && c.String() != "mm+cg" })
}

var sec2 = &Experiment{
	ID: "004/sec2", Place: "Section 2.3.2",
	About: "BFS beside EP, and CG beside MM, under ABP: slowdowns, active workers, fewer workers, and without yields",
	Notes: document4 + " Active workers are counted in runs of their own: a worker is active while it runs items, also " +
		"if it has no core at the moment.",
	plan: func(p *Plan) {
		planSolo(p, controlled004)
		planSerial(p, apps[:1]...) // BFS, for its speed-up
		planPairs(p, sec2Pairs(), "abp,"+abpAgain+",abp+yields=never")
		mm, cg := apps[2], apps[5]
		few := max(1, p.Cores/2)
		tags := map[string]string{"co": "mm+cg", "under": halfWorkers, "kind": "mixed"}
		p.together(2*time.Second, p.program(tags, mm.args(p, "abp", p.Cores)), p.program(tags, cg.args(p, "abp", few)))
		planWatched(p, apps[0], apps[1])
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
				s.at(i, 100*d.sec2Slowdown(c.co, c.name, u))
			}
			f.add(s)
		}
		return []*Figure{f, d.activeWorkers()}
	},
	printed: printedSec2,
	columns: coColumns, metrics: append(slices.Clip(coMetrics), metric{"active", "active workers", 1}),
	claims: []*Claim{
		{
			ID: "004/sec2 unfair", Place: "2.3.2",
			needs: losesBFS, baseline: "under=abp",
			Says: "Beside each other, BFS is slowed down by 377 % and EP by 5 %: an unfairness of 372 %.",
			judge: func(d *Data) Verdict {
				bfs, ep := d.sec2Slowdown("bfs+ep", "bfs", "abp"), d.sec2Slowdown("bfs+ep", "ep", "abp")
				return verdict(bfs > ep+0.5, "BFS %s, EP %s", pct(bfs), pct(ep))
			},
		},
		{
			ID: "004/sec2 active", Place: "2.3.2",
			needs: premature, baseline: "co=bfs+ep,watched",
			Says: "BFS reaches a speed-up of 21 alone, and has only about 5 active workers beside EP.",
			judge: func(d *Data) Verdict {
				serial := d.where("co=serial workload=bfs").stat("ns/op").Mean
				alone := serial / d.solo("bfs", "abp")
				beside := serial / d.where("co=bfs+ep under=abp workload=bfs").stat("ns/op").Mean
				active := func(co, name string) float64 {
					return d.where("co=%s workload=%s", co, name).stat("active").Mean
				}
				most, few := active(watchedAlone, "bfs"), active(watchedTogether, "bfs")
				// A run always has one. The others are what a program loses that is not given its cores back.
				return verdict(few-1 < 0.5*(most-1), "with %d workers %s active alone, %s beside EP, which has %s; "+
					"speed-up %s alone, %s beside EP", d.Cores, significant(most), significant(few),
					significant(active(watchedTogether, "ep")), significant(alone), significant(beside))
			},
		},
		{
			ID: "004/sec2 workers", Place: "2.3.2",
			needs: halfOfIt, baseline: "under=abp",
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
			needs: halfTheTime, baseline: "under=abp",
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
	return d.where("co=%s under=%s workload=%s", co, under, name).stat("ns/op").Mean/
		d.solo(name, "abp") - 1
}

// The tags of the runs in which active workers are counted. Their times are no times of other claims, for counting
// takes time too.
const (
	watchedAlone    = "alone,watched"
	watchedTogether = "bfs+ep,watched"
)

// planWatched plans two benchmarks under ABP, alone and together, and counts their active workers.
func planWatched(p *Plan, a, b app) {
	args := func(a app) string { return a.args(p, "abp", p.Cores) + " -active" }
	for _, alone := range []app{a, b} {
		p.alone(2*time.Second, map[string]string{"co": watchedAlone}, args(alone)+fmt.Sprintf(" -reps %d", p.reps(7, 5)))
	}
	tags := map[string]string{"co": watchedTogether}
	p.together(2*time.Second, p.program(tags, args(a)), p.program(tags, args(b)))
}

// activeWorkers draws the mean number of active workers over the time of a run, alone and together.
func (d *Data) activeWorkers() *Figure {
	f := chart{
		file: "004-sec2-active", title: "Active workers under ABP", xLabel: "time of the run, %", yLabel: "active workers",
	}.frame("steps")
	f.Y.Zero = true
	for _, c := range []struct{ co, workload, label string }{
		{watchedAlone, "bfs", "bfs alone"}, {watchedTogether, "bfs", "bfs beside ep"},
		{watchedAlone, "ep", "ep alone"}, {watchedTogether, "ep", "ep beside bfs"},
	} {
		part := d.where("co=%s workload=%s", c.co, c.workload)
		s := Series{Name: c.label}
		for _, at := range part.instants("active@") {
			s.Points = append(s.Points, Point{X: at, Y: part.stat(fmt.Sprintf("active@%.0f", at)).Mean})
		}
		f.add(s)
	}
	return f
}
