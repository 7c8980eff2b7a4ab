package replay

import (
	"slices"
	"time"
)

// sec2Pairs are those of section 2.
func sec2Pairs() []pair {
	return slices.DeleteFunc(somePairs(), func(c pair) bool { return c.String() != "bfs+ep" && c.String() != "mm+cg" })
}

var sec2 = &Experiment{
	ID: "004/sec2", Place: "Section 2.3.2",
	About: "BFS beside EP, and CG beside MM, under ABP: slowdowns, with fewer workers, and without yields",
	Notes: document4,
	plan: func(p *Plan) {
		planSolo(p, policies004)
		planSerial(p, apps[:1]...) // BFS, for its speed-up
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
				s.at(i, 100*d.sec2Slowdown(c.co, c.name, u))
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
				serial := d.where("co=serial workload=bfs").stat("ns/op").Mean
				alone := serial / d.solo("bfs", "abp")
				beside := serial / d.where("co=bfs+ep under=abp workload=bfs").stat("ns/op").Mean
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
	return d.where("co=%s under=%s workload=%s", co, under, name).stat("ns/op").Mean/
		d.solo(name, "abp") - 1
}
