package replay

import (
	"fmt"
	"strings"
)

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
		planSolo(p, controlled004)
		planSolo(p, delayed+","+selective)
		planPairs(p, ablationPairs(p), "abp,"+abpAgain+","+balanced+","+delayed+","+selective)
	},
	figures: func(d *Data) []*Figure {
		return d.averages("004-fig5", "Alternatives", []string{"abp", delayed, selective, balanced},
			func(p string) string {
				return strings.TrimPrefix(p, "abp+yields=")
			})
	},
	printed: printedFig5Of004,
	columns: coColumns, metrics: coMetrics,
	claims: []*Claim{
		{
			ID: "004/fig5 unfairness", Place: "5.3, fig. 5",
			needs: premature, baseline: "under=abp",
			Says: "Delayed and selective yields barely reduce the average unfairness: 108 % (selective) from 124 %.",
			judge: func(d *Data) Verdict {
				u := d.meanUnfairness
				return verdict(u(delayed) > 0.7*u("abp") && u(selective) > 0.7*u("abp"),
					"ABP %s, delayed %s, selective %s, %s %s",
					pct(u("abp")), pct(u(delayed)), pct(u(selective)), balanced, pct(u(balanced)))
			},
		},
		{
			ID: "004/fig5 throughput", Place: "5.3, fig. 5",
			needs: premature, baseline: "under=abp",
			Says: "Selective yields lower the average throughput by about 8 %, from 1.2 to 1.1.",
			judge: func(d *Data) Verdict {
				t := d.meanWeighted
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
		planSolo(p, controlled004)
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
	printed: printedFig6Of004,
	columns: coColumns, metrics: coMetrics,
	claims: []*Claim{{
		ID: "004/fig6 threshold", Place: "5.4, fig. 6",
		needs: aSleeper, baseline: "under=" + balanced + "+threshold=4096",
		Says: "32: unfairness 32 %, throughput 1.44; 64: 20 %, 1.35; 256: 19 %, 1.33; 4096: 23 %, 1.29. Throughput " +
			"falls as the threshold rises.",
		judge: func(d *Data) Verdict {
			var found []string
			var speeds []float64
			for _, t := range thresholds {
				speed := d.meanWeighted(t.policy)
				speeds = append(speeds, speed)
				found = append(found, fmt.Sprintf("%d: %s, %s", t.value, pct(d.meanUnfairness(t.policy)),
					significant(speed)))
			}
			return verdict(speeds[0] > 1.05*speeds[len(speeds)-1], "%s", strings.Join(found, "; "))
		},
	}},
}
