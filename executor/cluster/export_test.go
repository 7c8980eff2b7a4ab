package cluster

import "time"

var (
	NewPlan    = newPlan
	NewRunner  = newRunner
	NewResults = newResults
)

// CostOf returns the cost of a graph.
func CostOf(g *Graph) time.Duration { return g.cost() }
