//go:build modelcheck

package executor

// The same in the smallest numbers with which everything still happens: the fewer operations, the fewer interleavings.
const (
	searchRounds     = 1
	politeRounds     = 1
	searchPause      = 0
	crowdRounds      = 1
	stealBound       = 1
	yieldBound       = 1
	thiefPatience    = 1
	politeLosses     = 1
	fewCrumbs        = 8
	crumb            = 0
	crumbPause       = 0
	crumbPauses      = 0
	helpSpins        = 1
	pollInterval     = 2
	flushInterval    = 4
	enoughPublic     = 4
	spareIdle        = 0 // the model knows no time
	dequeCapacity    = 2
	queueCapacity    = 4
	maxLoot          = 2
	injectorCapacity = 2
)
