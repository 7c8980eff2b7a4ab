package bench

import (
	"fmt"
	"math"

	"golang.org/x/perf/benchmath"
)

// confidence is the level of the intervals in the table. Five repetitions, the default, suffice for it; the 0.95 of
// compare needs six.
const confidence = 0.9

// A group has all repetitions of one workload in one setting and size.
type group struct {
	Result   // the first repetition
	reps     []Result
	perTask  benchmath.Summary
	perBuild benchmath.Summary
}

// groups groups results, in the order of their first occurrence.
func groups(results []Result) []*group {
	type key struct {
		workload string
		setting  Setting
		n        int
		inputs   string
		whole    bool
		pinned   bool
		division DivisionPoint // empty for other workloads
	}
	var all []*group
	byKey := make(map[key]*group)
	for _, r := range results {
		k := key{workload: r.Workload, setting: r.setting(), n: r.N, inputs: r.Inputs, whole: r.Whole, pinned: r.Pinned}
		if r.isDivision() {
			k.division = DivisionPoint{Queue: r.Queue, Tasks: r.Tasks}
		}
		g := byKey[k]
		if g == nil {
			g = &group{Result: r}
			byKey[k] = g
			all = append(all, g)
		}
		g.reps = append(g.reps, r)
	}
	for _, g := range all {
		g.perTask = g.summary(func(r *Result) float64 { return r.NSPerTask })
		g.perBuild = g.summary((*Result).buildPerTask)
	}
	return all
}

// summary returns the median of a figure over the repetitions, with its confidence interval.
func (g *group) summary(figure func(*Result) float64) benchmath.Summary {
	values := make([]float64, len(g.reps))
	for i := range g.reps {
		values[i] = figure(&g.reps[i])
	}
	sample := benchmath.NewSample(values, &benchmath.DefaultThresholds)
	return benchmath.AssumeNothing.Summary(sample, confidence)
}

func (g *group) median(figure func(*Result) float64) float64 { return g.summary(figure).Center }

// serialOf finds the serial runs of the same graph or program.
func serialOf(g *group, all []*group) *group {
	for _, s := range all {
		if s.Engine == "serial" && s.Workload == g.Workload && s.N == g.N && s.Inputs == g.Inputs &&
			(!s.isDivision() || s.Tasks == g.Tasks) {
			return s
		}
	}
	return nil
}

// spread formats a summary as in "10.2 ± 3%", without the interval if there are too few repetitions for one.
func spread(s benchmath.Summary) string {
	if math.IsInf(s.Hi, 0) {
		return significant(s.Center)
	}
	return fmt.Sprintf("%s ± %s", significant(s.Center), s.PctRangeString())
}

// significant formats a figure with three digits, or with all of those before the point.
func significant(x float64) string {
	switch {
	case x == 0:
		return "0"
	case x < 0.001:
		return fmt.Sprintf("%.2g", x)
	case x < 10:
		return fmt.Sprintf("%.2f", x)
	case x < 100:
		return fmt.Sprintf("%.1f", x)
	default:
		return fmt.Sprintf("%.0f", x)
	}
}

// median returns the median of values.
func median(values []float64) float64 {
	return benchmath.AssumeNothing.Summary(benchmath.NewSample(values, &benchmath.DefaultThresholds), confidence).Center
}
