package replay

import (
	"fmt"
	"math"
	"strings"
)

var table1Of004 = &Experiment{
	ID: "004/table1", Place: "Section 5.1, Table 1",
	About: "the speed-ups of the benchmarks alone, by which the document divides them into two groups",
	Notes: document4,
	plan: func(p *Plan) {
		planSolo(p, controlled004)
		planPrivate(p)
		planSerial(p, apps...)
	},
	figures: func(d *Data) []*Figure {
		f := chart{file: "004-table1", title: "Speed-up alone", yLabel: "speed-up"}.frame("bars")
		f.Y.Zero = true
		for _, policy := range strings.Split(policies004, ",") {
			s := Series{Name: policy}
			f.X.Categories = nil
			for i, a := range apps {
				f.X.Categories = append(f.X.Categories, a.name)
				s.at(i, d.speedupOf(a.name, policy))
			}
			f.add(s)
		}
		return []*Figure{f}
	},
	printed: printedTable1Of004,
	columns: coColumns, metrics: coMetrics,
	claims: []*Claim{{
		ID: "004/table1 groups", Place: "5.1, Table 1",
		needs: groups, baseline: "co=alone policy=abp",
		Says: "BFS, EP, MM, RayTracer and LOOP reach speed-ups of more than 20 with 32 cores, CG, CLIP and MI less " +
			"than 16: scaled, more and less than 0.6 of the cores.",
		judge: func(d *Data) Verdict {
			held, found := true, []string{}
			for _, a := range apps {
				s := d.speedupOf(a.name, "abp") / float64(d.Env.Cores)
				held = held && (a.group == 1) == (s > 0.6)
				found = append(found, fmt.Sprintf("%s %s", a.name, significant(d.speedupOf(a.name, "abp"))))
			}
			return verdict(held, "speed-ups with %d cores: %s", d.Env.Cores, strings.Join(found, ", "))
		},
	}},
}

func (d *Data) speedupOf(name, policy string) float64 {
	return d.where("co=serial workload=%s", name).stat("ns/op").Mean / d.solo(name, policy)
}

var solo004 = &Experiment{
	ID: "004/solo", Place: "Section 5.2, footnote 4",
	About:   "the benchmarks alone: BWS against ABP",
	Notes:   document4,
	plan:    func(p *Plan) { planSolo(p, controlled004) },
	columns: coColumns, metrics: coMetrics,
	claims: []*Claim{{
		ID: "004/solo cost", Place: "5.2, footnote 4",
		needs: aThief, baseline: "co=alone policy=abp",
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
			return verdict(math.Abs(sum/n) < 0.05, "on average %+.1f %%: %s", 100*sum/n, strings.Join(found, ", "))
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
	plan:  func(p *Plan) { planSolo(p, balanced+","+balancedAgain+","+downgraded+","+global) },
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
				s.at(len(f.X.Categories)-1, 100*d.solo(a.name, policy)/d.solo(a.name, balanced))
			}
			f.add(s)
		}
		return []*Figure{f}
	},
	printed: printedSec55,
	columns: coColumns, metrics: coMetrics,
	claims: []*Claim{
		costClaim("downgraded", "Waking by busy workers costs 7 % on average, and 35 % for MI.", downgraded, 1.03),
		costClaim("global", "Global counts cost 43 % on average, and 177 % for CLIP.", global, 1.05),
	},
}

func costClaim(name, says, policy string, least float64) *Claim {
	return &Claim{
		ID: "004/sec5.5 " + name, Place: "5.5", Says: says,
		needs: crowded, baseline: "co=alone policy=" + balanced,
		judge: func(d *Data) Verdict {
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
		},
	}
}
