//go:build modelcheck

package executor

// The smallest numbers with which every path is still taken.
const (
	enoughPublic     = 4
	defaultSpares    = 2
	maxBatch         = 4
	inboxLooks       = 1
	inboxPause       = 1
	maxStoredBatches = 1
	patientTurns     = 0
	maxInGo          = 1
	lookInterval     = 0 // the model knows no time
	turnLooks        = 1
	maxUnneeded      = 1
	siteRoom         = 2
	minSweep         = 1
)
