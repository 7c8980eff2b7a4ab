package replay

import (
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/magpie-go/magpie/cmd/wsbench/internal/bench"
)

// unresolved says how large the noise is if it decides the outcome of c, and otherwise "".
//
// The margin of an outcome is within the noise if the outcome would be another one with a figure of the baseline that
// is off by its spread. So c is judged again with that figure larger at all points of the baseline, and smaller; and,
// since points err apart from each other, larger at some and smaller at the others. At last it is judged with the
// control in the baseline's place, if there is one.
func (c *Claim) unresolved(d *Data, o Outcome) string {
	if c.baseline == "" {
		return ""
	}
	differs := func(other *Data) bool { return c.judged(other).Outcome != o }
	for _, figure := range d.figures {
		spreads := d.spreads(c.baseline, figure)
		if quadraticMean(spreads) == 0 {
			continue
		}
		for p := range patterns(len(spreads)) {
			if differs(d.shifted(c.baseline, figure, spreads, p)) {
				return fmt.Sprintf("the outcome is another if the baseline (%s) is off by its spread, %s of its %s",
					c.baseline, pct(quadraticMean(spreads)), figure)
			}
		}
	}
	if other := d.exchanged(c.baseline); other != nil && differs(other) {
		return fmt.Sprintf("the outcome is another with the second measurement of the baseline (%s)", c.baseline)
	}
	return ""
}

// A pattern says at which of the points a figure is larger.
type pattern func(point int) bool

// patterns yields patterns of which one distinguishes any two points, and at last that of all points; each with its
// opposite.
func patterns(points int) iter.Seq[pattern] {
	return func(yield func(pattern) bool) {
		for bit, last := 1, false; !last; bit *= 2 {
			last = bit >= points // no point's number has this bit
			for _, larger := range []int{0, bit} {
				if !yield(func(point int) bool { return point&bit == larger }) {
					return
				}
			}
		}
	}
}

// spreads returns the spread of a figure at each point of a baseline, as a share of it: that of the repetitions, or the
// difference of the medians of baseline and control, whichever is more. Without a control at the point it is the
// quadratic mean of the differences elsewhere. Few repetitions may agree by chance, so that no spread counts as less
// than the median of all.
func (d *Data) spreads(baseline, figure string) (all []float64) {
	elsewhere := sync.OnceValue(func() float64 { return quadraticMean(d.apart(figure)) })
	for _, g := range bench.GroupBy(d.where("%s", baseline).Rows, nil) {
		s, spread := g.Stat(figure), 0.0
		if s.N > 0 && s.Median != 0 {
			spread = s.Spread()
			if second := bench.StatOf(d.controlOf(g), figure); second.N > 0 {
				spread = max(spread, math.Abs(second.Median/s.Median-1))
			} else {
				spread = max(spread, elsewhere())
			}
		}
		all = append(all, spread)
	}
	if len(all) == 0 {
		return nil
	}
	sorted := slices.Sorted(slices.Values(all))
	median := sorted[len(sorted)/2]
	for i, x := range all {
		all[i] = max(x, median)
	}
	return all
}

// quadraticMean returns the root of the mean of the squares, 0 without any.
func quadraticMean(all []float64) float64 {
	sum := 0.0
	for _, x := range all {
		sum += x * x / float64(len(all))
	}
	return math.Sqrt(sum)
}

// shifted returns d with a figure of a baseline off by its spreads.
func (d *Data) shifted(baseline, figure string, spreads []float64, larger pattern) *Data {
	other := *d
	other.Rows = nil
	conditions := parseConditions(strings.Fields(baseline))
	point := 0
	for _, g := range bench.GroupBy(d.Rows, nil) {
		if !conditions.meets(g.Rows[0]) {
			other.Rows = append(other.Rows, g.Rows...)
			continue
		}
		factor := 1 + spreads[point]
		if !larger(point) {
			factor = 1 / factor
		}
		point++
		for _, r := range g.Rows {
			r.Figures, r.Details = multiplied(r.Figures, figure, factor), multiplied(r.Details, figure, factor)
			other.Rows = append(other.Rows, r)
		}
	}
	return &other
}

func multiplied(all []bench.Metric, figure string, factor float64) []bench.Metric {
	i := slices.IndexFunc(all, func(m bench.Metric) bool { return m.Name == figure })
	if i < 0 {
		return all
	}
	all = slices.Clone(all)
	all[i].Value *= factor
	return all
}

// exchanged returns d with the control of the rows with these settings in their place, nil if there is no control.
func (d *Data) exchanged(baseline string) *Data {
	other := *d
	other.Rows = nil
	found := false
	conditions := parseConditions(strings.Fields(baseline))
	for _, g := range bench.GroupBy(d.Rows, nil) {
		if control := d.controlOf(g); len(control) > 0 && conditions.meets(g.Rows[0]) {
			other.Rows = append(other.Rows, control...)
			found = true
		} else {
			other.Rows = append(other.Rows, g.Rows...)
		}
	}
	if !found {
		return nil
	}
	return &other
}
