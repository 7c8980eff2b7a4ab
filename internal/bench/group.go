package bench

import (
	"math"

	"golang.org/x/perf/benchfmt"
	"golang.org/x/perf/benchmath"
)

// confidence is the level of the intervals in tables. Five repetitions, the default, suffice for it; the 0.95 of
// compare needs six.
const confidence = 0.9

// A group has all repetitions at one point.
type group struct {
	point
	bench    *benchfmt.Result // the first repetition
	reps     int
	verified bool // all of them
	values   map[string][]float64
}

// groupsOf groups records by their points, in the order of their first occurrence.
func groupsOf(records []Record) (all []*group) {
	byName := make(map[string]*group)
	for _, r := range records {
		b := benchResult(r)
		name := string(b.Name)
		g := byName[name]
		if g == nil {
			g = &group{point: r.point(), bench: b, verified: true, values: make(map[string][]float64)}
			byName[name] = g
			all = append(all, g)
		}
		g.reps++
		g.verified = g.verified && r.isVerified()
		for _, v := range b.Values {
			if !math.IsNaN(v.Value) { // a share of nothing
				g.values[v.Unit] = append(g.values[v.Unit], v.Value)
			}
		}
	}
	return all
}

// has reports whether the group has figures in a unit.
func (g *group) has(unit string) bool { return len(g.values[unit]) > 0 }

// summary returns the median of the figures in a unit, with its confidence interval.
func (g *group) summary(unit string) benchmath.Summary {
	sample := benchmath.NewSample(append([]float64(nil), g.values[unit]...), &benchmath.DefaultThresholds)
	return benchmath.AssumeNothing.Summary(sample, confidence)
}

func (g *group) median(unit string) float64 { return g.summary(unit).Center }

// isPeer reports whether two groups differ at most in the settings with these names.
func (g *group) isPeer(other *group, names ...string) bool {
	return g.without(names).benchName() == other.without(names).benchName()
}

// ofEngine are the settings that say how a workload is run.
var ofEngine = []string{"engine", "policy", "deque", "forks", "workers", "queue"}

// serialOf finds the serial runs of the same graph, program or list of tasks.
func serialOf(g *group, all []*group) *group {
	for _, s := range all {
		if s.value("engine") == "serial" && s.isPeer(g, ofEngine...) {
			return s
		}
	}
	return nil
}

// valuesOf returns the values of a setting, in the order of their first occurrence. Groups without the setting are
// ignored.
func valuesOf(groups []*group, name string) (values []string) {
	for _, g := range groups {
		if v := g.value(name); v != "" {
			values = appendNew(values, v)
		}
	}
	return values
}
