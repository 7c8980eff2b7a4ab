package replay

import (
	"fmt"
	"slices"

	"github.com/magpie-go/magpie/cmd/wsbench/internal/bench"
)

// The second names of baselines: a policy with an option that has its default. What differs between the two names is
// noise.
const (
	abpAgain      = "abp+yields=each"
	balancedAgain = balanced + "+threshold=64"
	rolesAgain    = roles + "+threshold=64"
)

var secondNames = map[string]string{abpAgain: "abp", balancedAgain: balanced, rolesAgain: roles}

// again is the setting of rows of a control.
const again = "again"

// againTag are the tags of a program that is measured a second time.
func againTag(tags map[string]string) map[string]string {
	tags[again] = "yes"
	return tags
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

// controlled says how far control and baseline are apart, in the first figure of the table that they have. Without a
// control it is "".
func (d *Data) controlled() string {
	for _, figure := range d.figures {
		var all []float64
		for _, g := range bench.GroupBy(d.Rows, nil) {
			if s := bench.StatOf(d.controlOf(g), figure); s.N > 0 {
				all = append(all, s.Median/g.Stat(figure).Median-1)
			}
		}
		if len(all) > 0 {
			return fmt.Sprintf("The control, the baseline measured a second time, is %s off in %s, the quadratic mean "+
				"of %d settings", pct(quadraticMean(all)), figure, len(all))
		}
	}
	return ""
}
