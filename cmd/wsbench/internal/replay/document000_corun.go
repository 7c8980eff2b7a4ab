package replay

import (
	"fmt"
	"math"
	"strings"
	"time"
)

var fig5CoRun = &Experiment{
	ID: "000/fig5-corun", Place: "Section III-B, figure 5 (right)",
	About: "2 to 8 timing analyses at once, each with as many workers as there are cores: weighted speed-up",
	Notes: "The weighted speed-up sums the solo time of each process over its time in the co-run. As in the " +
		"document, the solo time is that of the same scheduler. The policies take turns, twice each, and so the two " +
		"times of one are measured within some minutes.",
	plan: func(p *Plan) {
		for _, c := range circuits[:2] {
			planCoRuns(p, c.name, p.size(c.here, c.document), []int{2, 4, 8})
		}
		b19 := circuits[2]
		planCoRuns(p, b19.name, p.size(2, b19.document), []int{2, 4})
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
	printed: printedFig5CoRun,
	columns: []string{"circuit", "policy", "processes"},
	metrics: []metric{wallMS, util},
	claims: []*Claim{
		{
			ID: "000/fig5-corun abp-lowest", Place: "III-B, fig. 5 (right)",
			needs: aSleeper, baseline: "policy=abp processes=2|4|8",
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
			needs: aSleeper, baseline: "circuit=" + c6288 + " policy=mbws processes=2|4|8",
			Says: "Ours and MBWS are close except on c6288, where 8 co-runs reach 6.6 (ours), 4.36 (MBWS) and 1.9 " +
				"(ABP).",
			judge: func(d *Data) Verdict {
				part := d.where("circuit=%s", c6288)
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
			needs: aSleeper, baseline: "circuit=b19 policy=abp processes=2|4|8",
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

// planCoRuns plans the analysis of a circuit alone, and by several processes at once. The policies take turns.
func planCoRuns(p *Plan, circuit string, ops int, processes []int) {
	p.inTurns(2, func() {
		for policy := range strings.SplitSeq(fig4Policies, ",") {
			args := fmt.Sprintf("run sta -circuit %s -corners %d -n %d -policy %s -verbatim -workers %d", circuit,
				corners000, ops, policy, p.Cores)
			p.alone(2*time.Second, map[string]string{"processes": "1"}, args+fmt.Sprintf(" -reps %d", p.reps(6, 10)))
			for _, k := range processes {
				var programs []Program
				for i := range k {
					tags := map[string]string{"processes": fmt.Sprint(k), "process": fmt.Sprint(i + 1)}
					programs = append(programs, p.program(tags, args))
				}
				p.add(&Measurement{
					Programs: programs, Reps: p.reps(8, 20), Expect: time.Duration(k+1) * time.Second / 2,
				})
			}
		}
	})
}

// speedup returns the weighted speed-up of k processes under a policy.
func (d *Data) speedup(policy, k string) (sum float64) {
	part := d.where("policy=%s processes=%s", policy, k)
	solo := d.where("policy=%s processes=1", policy).stat("ns/op").Mean
	if len(part.Rows) == 0 {
		return math.NaN()
	}
	for _, i := range part.values("process") {
		sum += solo / part.where("process=%s", i).stat("ns/op").Mean
	}
	return sum
}
