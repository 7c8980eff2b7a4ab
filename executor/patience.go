//go:build !modelcheck

package executor

import "time"

// closesSoon waits until the executor is closed, or until Shutdown has no more patience. It then returns false.
func (ex *executor) closesSoon() bool {
	patience := time.NewTimer(ex.life.patience)
	defer patience.Stop()
	for start := time.Now(); ; {
		before := ex.tasksSoFar()
		select {
		case <-ex.life.closed:
			return true
		case <-patience.C:
		}
		if time.Since(start) > shutdownLimit || time.Since(start) > ex.life.patience && ex.tasksSoFar() == before {
			return false
		}
		patience.Reset(ex.life.patience / 2)
	}
}

// tasksSoFar returns the number of tasks that the workers have told of. A run that is cancelled skips tasks.
func (ex *executor) tasksSoFar() uint64 {
	total := ex.stats().Total
	return total.Tasks + total.Skipped
}
