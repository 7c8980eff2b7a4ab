//go:build modelcheck

package executor

// The smallest numbers with which every path is still taken.
const (
	enoughPublic  = 4
	defaultSpares = 2
	inboxBatch    = 1
	patientTurns  = 0
	maxInGo       = 1
	lookInterval  = 0 // the model knows no time
	turnLooks     = 1
	maxUnneeded   = 1
	minSweep      = 1
)
