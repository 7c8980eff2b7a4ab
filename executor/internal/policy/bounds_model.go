//go:build modelcheck

package policy

import "math"

// The same in the smallest numbers with which everything still happens: the fewer operations, the fewer interleavings.
const (
	Looks          = 1
	patientLooks   = 1
	searchRounds   = 1
	politeRounds   = 1
	searchPause    = 0
	crowdRounds    = 1
	stealBound     = 1
	yieldBound     = 1
	taskflowYields = 1
	sleepThreshold = 1
	wishes         = 1
	clockInterval  = 2
	breath         = 1
	thiefPatience  = 1
	fewTrivial     = 1
	trivialTime    = math.MaxInt64 // programs do not depend on time
	trivialPause   = 1
	trivialPauses  = 1
)
