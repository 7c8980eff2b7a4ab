//go:build !modelcheck

package executor

import (
	"time"

	"github.com/magpie-go/magpie/internal/osthread"
)

// waitSpin bounds how long Wait looks before it blocks: about what blocking and being woken costs, so that at worst
// the wait takes twice the processor time it had to. After politeSpin it offers its core each time: the worker may have
// been woken there.
const (
	waitSpin   = 50 * time.Microsecond
	politeSpin = 2 * time.Microsecond
)

// block waits, outside the executor's workers, until the run is over.
func (r *Run) block() {
	for start := time.Now(); !r.over.Load(); {
		waited := time.Since(start)
		if waited > waitSpin {
			<-r.Done()
			return
		}
		if waited > politeSpin {
			osthread.Yield()
		}
	}
}
