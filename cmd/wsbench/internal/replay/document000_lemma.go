package replay

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

var lemma2 = &Experiment{
	ID: "000/lemma2", Place: "Section II-D, lemma 2",
	About: "thieves that are awake during one long task, after many tasks at once",
	Notes: "The states of the workers' threads are those that the kernel tells. S, the time of a steal, is that of a " +
		"steal from an empty deque and a yield, on this machine; threads that share a core take turns.",
	plan: func(p *Plan) {
		most := slices.Max(p.workers())
		for _, w := range p.workers() {
			if w < 4 {
				continue // with 2 there is one thief
			}
			control := ""
			if w == most {
				control = againFlag + "policy=" + ours
			}
			p.run(3*time.Second, "awake -policy adaptive,%s,mbws,abp,taskflow -workers %d -n 50 -reps %d%s", ours, w,
				p.reps(5, 10), control)
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
			for _, us := range part.instants("thieves@") {
				s.Points = append(s.Points, Point{X: us / 1000, Y: part.stat(fmt.Sprintf("thieves@%.0f", us)).Mean})
			}
			f.add(s)
		}
		if bound := d.where("workers=%s", w).stat("bound-ns").Median / 1e6; bound > 0 {
			f.Note = fmt.Sprintf("The bound of the lemma is about %s ms here.", significant(bound))
		}
		return []*Figure{f}
	},
	printed: printedLemma2,
	columns: []string{"workers", "policy"},
	metrics: []metric{{"settled-ns", "until one thief is left, ms", 1e-6}, {"bound-ns", "bound, ms", 1e-6},
		{"late-thieves", "thieves in the second half", 1}, {"samples", "looks", 1}},
	claims: []*Claim{{
		ID: "000/lemma2 bound", Place: "II-D, lemma 2",
		needs: twoBeside, baseline: "policy=" + ours,
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

// instants returns the times in the names of figures, after the prefix: of probe awake, in µs.
func (d *Data) instants(prefix string) (all []float64) {
	for _, r := range d.Rows[:min(1, len(d.Rows))] {
		for _, m := range slices.Concat(r.Figures, r.Details) {
			var at float64
			if n, _ := fmt.Sscanf(m.Name, prefix+"%g", &at); n == 1 {
				all = append(all, at)
			}
		}
	}
	slices.Sort(all)
	return all
}
