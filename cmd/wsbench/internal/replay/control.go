package replay

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/magpie-go/magpie/cmd/wsbench/internal/bench"
)

// The second names of baselines: a policy with an option that has its default. What differs between the two names is
// noise.
const (
	abpAgain      = "abp+yields=each"
	balancedAgain = balanced + "+threshold=64"
	byClockAgain  = byClock + "+threshold=64"
)

var secondNames = map[string]string{abpAgain: "abp", balancedAgain: balanced, byClockAgain: byClock}

// again is the setting of rows of a control. With againFlag a run measures what meets the flag's conditions a second
// time, and its results have the setting. Programs that have the machine together or in turns have it as a tag.
const (
	again     = "again"
	againFlag = " -again "
)

// againTag are the tags of a program that is measured a second time.
func againTag(tags map[string]string) map[string]string {
	tags[again] = "yes"
	return tags
}

// allAgain returns the same programs for a second measurement.
func allAgain(programs []Program) (all []Program) {
	for _, p := range programs {
		all = append(all, Program{p.Args, againTag(maps.Clone(p.Tags))})
	}
	return all
}

// isAgain reports whether all programs are measured a second time.
func (m *Measurement) isAgain() bool {
	return !slices.ContainsFunc(m.Programs, func(p Program) bool { return p.Tags[again] == "" })
}

// asControl reports whether a row is of a baseline's second measurement. It returns the row as one of the baseline,
// with one more setting.
func asControl(r bench.Row) (bench.Row, bool) {
	r.Settings = slices.Clone(r.Settings)
	is := r.Value(again) != ""
	for i, s := range r.Settings {
		if first, ok := secondNames[s.Value]; ok {
			r.Settings[i].Value = first
			if r.Value(again) == "" {
				r.Point = r.With(again, "yes")
			}
			is = true
		}
	}
	return r, is
}

// add adds a row to those of the baselines' second measurements, or to all others.
func (d *Data) add(r bench.Row) {
	if control, ok := asControl(r); ok {
		d.Control = append(d.Control, control)
	} else {
		d.Rows = append(d.Rows, r)
	}
}

// controlOf returns the rows of the control at the point of a group.
func (d *Data) controlOf(g *bench.Group) []bench.Row {
	var conditions []string
	for _, s := range g.Settings {
		conditions = append(conditions, s.Name+"="+s.Value)
	}
	return meeting(d.Control, conditions)
}

// apart returns how far control and baseline are apart in a figure, as shares, at all points that have both.
func (d *Data) apart(figure string) (all []float64) {
	for _, g := range bench.GroupBy(d.Rows, nil) {
		first, second := g.Stat(figure), bench.StatOf(d.controlOf(g), figure)
		if first.N > 0 && second.N > 0 && first.Median != 0 {
			all = append(all, second.Median/first.Median-1)
		}
	}
	return all
}

// covered returns d without the rows of a baseline that have no control.
func (d *Data) covered(baseline string) *Data {
	other := *d
	other.Rows = nil
	conditions := parseConditions(strings.Fields(baseline))
	for _, g := range bench.GroupBy(d.Rows, nil) {
		if !conditions.meets(g.Rows[0]) || len(d.controlOf(g)) > 0 {
			other.Rows = append(other.Rows, g.Rows...)
		}
	}
	return &other
}

// controlled says how far control and baseline are apart, in the first figure of the table that they have. Without a
// control it is "".
func (d *Data) controlled() string {
	for _, figure := range d.figures {
		if all := d.apart(figure); len(all) > 0 {
			return fmt.Sprintf("The control, the baseline measured a second time, is %s off in %s (quadratic mean; "+
				"settings: %d)", pct(quadraticMean(all)), figure, len(all))
		}
	}
	return ""
}
