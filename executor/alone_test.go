//go:build !modelcheck

package executor

import (
	"testing"

	"github.com/magpie-go/magpie/deque"
	"github.com/magpie-go/magpie/executor/experiment"
)

// TestAloneIsTheOwners: a submitter that looks for items while the lane of the only worker is shared reads no word that
// the worker writes. The race detector checks it.
func TestAloneIsTheOwners(t *testing.T) {
	for _, d := range deque.Kinds() {
		ex := newExecutor(made(Config{Workers: 1, Spares: 1, Experiment: experiment.Options{Deque: d}}))
		done := make(chan struct{})
		go func() {
			defer close(done)
			_ = ex.anyItem() // as inject does, if a worker sleeps
		}()
		ex.roster[0].lane.Share(ex.lanes.Enough())
		<-done
	}
}
