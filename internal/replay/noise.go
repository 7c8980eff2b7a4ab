package replay

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/magpie-go/magpie/internal/bench"
)

// unresolved says how large the noise is if it decides the outcome of c, and otherwise "".
//
// The margin of an outcome is within the noise if the outcome would be another one with a figure of the baseline that is
// larger or smaller by its spread. So each figure is made larger, and smaller, and c is judged again; and once more with
// the control in the baseline's place, if there is one.
func (c *Claim) unresolved(d *Data, o Outcome) string {
	if c.baseline == "" {
		return ""
	}
	differs := func(other *Data) bool { return c.judged(other).Outcome != o }
	for _, figure := range d.figures {
		spread := d.spread(c.baseline, figure)
		if !(spread > 0) { // nor not a number
			continue
		}
		if differs(d.scaled(c.baseline, figure, 1+spread)) || differs(d.scaled(c.baseline, figure, 1/(1+spread))) {
			return fmt.Sprintf("the outcome is another if the baseline (%s) is off by its spread, %s of its %s",
				c.baseline, pct(spread), figure)
		}
	}
	if other := d.exchanged(c.baseline); other != nil && differs(other) {
		return fmt.Sprintf("the outcome is another with the second measurement of the baseline (%s)", c.baseline)
	}
	return ""
}

// spread returns the spread of a figure of the rows with these settings, as a share of it: that of the repetitions, or
// the difference of the medians of baseline and control, whichever is more. Over several points it is the quadratic mean.
func (d *Data) spread(baseline, figure string) float64 {
	var repetitions, control []float64
	for _, g := range bench.GroupBy(d.where("%s", baseline).Rows, nil) {
		s := g.Stat(figure)
		if s.N == 0 || s.Median == 0 {
			continue
		}
		repetitions = append(repetitions, s.Spread())
		if second := bench.StatOf(d.controlOf(g), figure); second.N > 0 {
			control = append(control, second.Median/s.Median-1)
		}
	}
	return math.Max(quadraticMean(repetitions), quadraticMean(control))
}

// quadraticMean returns the root of the mean of the squares, 0 without any.
func quadraticMean(all []float64) float64 {
	sum := 0.0
	for _, x := range all {
		sum += x * x / float64(len(all))
	}
	return math.Sqrt(sum)
}

// scaled returns d with a figure of the rows with these settings multiplied by a factor.
func (d *Data) scaled(baseline, figure string, factor float64) *Data {
	other := *d
	other.Rows = slices.Clone(d.Rows)
	conditions := strings.Fields(baseline)
	for i, r := range other.Rows {
		if meetsAll(r, conditions) {
			other.Rows[i].Figures = multiplied(r.Figures, figure, factor)
			other.Rows[i].Details = multiplied(r.Details, figure, factor)
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
	conditions := strings.Fields(baseline)
	for _, g := range bench.GroupBy(d.Rows, nil) {
		if control := d.controlOf(g); len(control) > 0 && meetsAll(g.Rows[0], conditions) {
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
