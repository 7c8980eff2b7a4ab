package cluster

import "time"

var (
	NewPlan    = newPlan
	NewRunner  = newRunner
	NewResults = newResults
)

// CostOf returns the cost of a graph.
func CostOf(g *Graph) time.Duration { return g.cost() }

// Plans returns how many plans a runner has loaded.
func (r *runner) Plans() (n int) {
	r.plans.Range(func(any, any) bool { n++; return true })
	return n
}

// HistogramOf returns the histogram of some durations.
func HistogramOf(all ...time.Duration) Histogram {
	var t times
	for _, d := range all {
		t.add(d)
	}
	return t.histogram()
}
