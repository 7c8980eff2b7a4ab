//go:build modelcheck

package executor

// block waits, outside the executor's workers, until the run is over. The model knows no time.
func (r *Run) block() { r.over.Await() }
