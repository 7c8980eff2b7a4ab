package replay

import (
	"fmt"
	"strings"
)

// variation returns the mean coefficient of variation of a benchmark's times over the co-runs that f accepts.
func (d *Data) variation(name, policy string, accept func(beside app) bool) float64 {
	sum, n := 0.0, 0.0
	for _, other := range apps {
		if other.name == name || !accept(other) {
			continue
		}
		s := d.where("workload=%s beside=%s under=%s", name, other.name, policy).stat("ns/op")
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
				s.at(i, 100*d.variation(x.name, policy, func(app) bool { return true }))
			}
			for i, k := range types {
				t.at(i, 100*d.variationOf(k.own, k.beside, policy))
			}
			a.add(s)
			b.add(t)
		}
		return []*Figure{a, b}
	},
	printed: printedFig4Of004,
	columns: []string{"workload", "under", "beside"},
	metrics: []metric{wallMS},
	claims: []*Claim{
		{
			ID: "004/fig4 benchmarks", Place: "5.2, fig. 4 (a)",
			needs: aSleeper, baseline: "under=abp",
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
			needs: aSleeper, baseline: "under=abp",
			Says: "For executions of group 2 beside group 1, BWS reduces it from 37 % to 10 %.",
			judge: func(d *Data) Verdict {
				abp, bws := d.variationOf(2, 1, "abp"), d.variationOf(2, 1, balanced)
				return verdict(abp >= 0.1 && bws < 0.6*abp, "ABP %s, %s %s, adaptive %s", pct(abp), balanced, pct(bws),
					pct(d.variationOf(2, 1, "adaptive")))
			},
		},
		{
			ID: "004/fig4 range", Place: "5.2",
			needs: aSleeper, baseline: "under=abp",
			Says: "Beside MM, CG takes 35 to 65 s under ABP, and 23 to 29 s under BWS.",
			judge: func(d *Data) Verdict {
				abp := d.where("workload=cg beside=mm under=abp").stat("ns/op")
				bws := d.where("workload=cg beside=mm under=%s", balanced).stat("ns/op")
				return verdict(bws.Deviation/bws.Mean < 0.6*abp.Deviation/abp.Mean, "ABP %s to %s, %s %s to %s",
					ms(abp.Least), ms(abp.Most),
					balanced, ms(bws.Least), ms(bws.Most))
			},
		},
		{
			ID: "004/fig4 reduction", Place: "1",
			needs: aSleeper, baseline: "under=abp",
			Says: "On average BWS reduces the coefficient of variation by more than 11 %, which is taken as percent " +
				"points.",
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
