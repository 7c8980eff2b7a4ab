package cluster

var (
	NewPlan    = newPlan
	NewRunner  = newRunner
	NewResults = newResults
)
