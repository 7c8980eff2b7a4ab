//go:build !modelcheck

package executor

import (
	"math"
	"time"
)

// StopReturnClock keeps the clock of callers that are expected back from going off.
func (ex *Executor) StopReturnClock() {
	ex.guests.returns.clock.timer = time.AfterFunc(math.MaxInt64, func() {})
}
