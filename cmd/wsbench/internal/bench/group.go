package bench

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"golang.org/x/perf/benchmath"
)

// A Group has rows that belong together: all repetitions at one point, or all with the same values of some settings.
type Group struct {
	Point // of the first row
	Rows  []Row
}

// GroupBy groups rows by the values of these settings, or by all settings if names is nil. Groups are in the order of
// their first rows.
func GroupBy(rows []Row, names []string) (all []*Group) {
	byKey := make(map[string]*Group)
	for _, r := range rows {
		key := r.benchName()
		if names != nil {
			var values []string
			for _, n := range names {
				values = append(values, r.Value(n))
			}
			key = strings.Join(values, "\x00")
		}
		g := byKey[key]
		if g == nil {
			g = &Group{Point: r.Point}
			byKey[key] = g
			all = append(all, g)
		}
		g.Rows = append(g.Rows, r)
	}
	return all
}

// Stat sums up the figure in a unit.
func (g *Group) Stat(unit string) Stat { return StatOf(g.Rows, unit) }

func (g *Group) median(unit string) float64 { return g.Stat(unit).Median }

// areVerified reports whether all rows are verified.
func (g *Group) areVerified() bool {
	return !slices.ContainsFunc(g.Rows, func(r Row) bool { return !r.Verified })
}

// isLoose reports whether a figure that has a mark in tables is loose.
func (g *Group) isLoose() bool {
	switch g.Kind {
	case "Run":
		return g.Stat("ns/task").IsLoose()
	case "Probe":
		return slices.ContainsFunc(g.Rows[0].Figures, func(m Metric) bool { return g.Stat(m.Name).IsLoose() })
	}
	return false
}

// first returns the name of the figure that matters most: a run's time per task, and what a probe measures first.
func (g *Group) first() string {
	if g.Kind == "Probe" && len(g.Rows[0].Figures) > 0 {
		return g.Rows[0].Figures[0].Name
	}
	return "ns/task"
}

// isPeer reports whether two groups differ at most in the settings with these names.
func (g *Group) isPeer(other *Group, names ...string) bool {
	return g.without(names).benchName() == other.without(names).benchName()
}

// ofEngine are the settings that say how a workload is run.
var ofEngine = []string{"engine", "policy", "deque", "forks", shareName, "workers", "queue", againName}

// serialOf finds the serial runs of the same graph, program or list of tasks.
func serialOf(g *Group, all []*Group) *Group {
	for _, s := range all {
		if s.Value("engine") == "serial" && s.isPeer(g, ofEngine...) {
			return s
		}
	}
	return nil
}

// ValuesOf returns the values of a setting, in the order of their first occurrence. What does not have the setting is
// ignored.
func ValuesOf[P interface{ Value(name string) string }](all []P, name string) (values []string) {
	for _, p := range all {
		if v := p.Value(name); v != "" {
			values = appendNew(values, v)
		}
	}
	return values
}

// confidence is the level of the intervals in tables. Five repetitions, the default, suffice for it; the 0.95 of
// compare needs six.
const confidence = 0.9

// A Stat sums up a figure of repetitions. Without any, all but N is not a number.
type Stat struct {
	Median, Least, Most, Mean, Deviation float64
	N                                    int
	interval                             benchmath.Summary // of the median
}

// StatOf sums up the figure in a unit of the rows that have it.
func StatOf(rows []Row, unit string) Stat {
	var values []float64
	for _, r := range rows {
		if v, ok := r.Figure(unit); ok && !math.IsNaN(v) { // a share of nothing is not a number
			values = append(values, v)
		}
	}
	if len(values) == 0 {
		nan := math.NaN()
		return Stat{Median: nan, Least: nan, Most: nan, Mean: nan, Deviation: nan}
	}
	sample := benchmath.NewSample(values, &benchmath.DefaultThresholds) // which sorts them
	s := Stat{
		Least: values[0], Most: values[len(values)-1], N: len(values),
		interval: benchmath.AssumeNothing.Summary(sample, confidence),
	}
	s.Median = s.interval.Center
	for _, v := range values {
		s.Mean += v / float64(s.N)
	}
	for _, v := range values {
		s.Deviation += (v - s.Mean) * (v - s.Mean)
	}
	s.Deviation = math.Sqrt(s.Deviation / float64(max(s.N-1, 1)))
	return s
}

// looseMark follows a figure that is loose, and looseNote explains it.
const (
	looseMark = "!"
	looseNote = "! may be off by more than 10 %, and is worth nothing: see -reps and -settle, and what else runs here."
)

// spread formats the median and its confidence interval, as in "10.2 ± 3%", with a mark if it is loose. There is no
// interval if there are too few repetitions for one.
func (s Stat) spread() string {
	text := Significant(s.Median)
	if !math.IsInf(s.interval.Lo, 0) && !math.IsInf(s.interval.Hi, 0) {
		text += " ± " + s.interval.PctRangeString()
	}
	if s.IsLoose() {
		text += looseMark
	}
	return text
}

// looseAbove is how far a median may be off, as a share of it, before it is worth nothing.
const looseAbove = 0.10

// IsLoose reports whether the median may be off by more than looseAbove, by its confidence interval, or by the range of
// repetitions that are too few for one. It is false for a single repetition, of which nothing is known, and for 0.
func (s Stat) IsLoose() bool {
	low, high := s.interval.Lo, s.interval.Hi
	if math.IsInf(low, 0) || math.IsInf(high, 0) {
		low, high = s.Least, s.Most
	}
	return s.Median != 0 && max(high-s.Median, s.Median-low) > looseAbove*math.Abs(s.Median)
}

// Range formats the median, multiplied by scale, and the least and the most if they differ, as in "10.2 (9.9 to 11.0)".
// Without figures it is empty.
func (s Stat) Range(scale float64) string {
	switch {
	case s.N == 0:
		return ""
	case s.Least == s.Most:
		return Significant(s.Median * scale)
	}
	return fmt.Sprintf("%s (%s to %s)",
		Significant(s.Median*scale), Significant(s.Least*scale), Significant(s.Most*scale))
}

// Spread returns by how much the median may be off, as a share of it: half the width of its confidence interval, or of
// the range of all repetitions if these are too few for one.
func (s Stat) Spread() float64 {
	low, high := s.interval.Lo, s.interval.Hi
	if math.IsInf(low, 0) || math.IsInf(high, 0) {
		low, high = s.Least, s.Most
	}
	return (high - low) / 2 / math.Abs(s.Median)
}
