//go:build modelcheck

package executor

// The smallest numbers with which every path of groups is still taken.
const (
	maxBatch         = 4
	inboxLooks       = 1
	inboxPause       = 1
	maxStoredBatches = 1
	patientTurns     = 0
	maxInGo          = 1
	lookInterval     = 0 // the model knows no time
	turnLooks        = 1
)
