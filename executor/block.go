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

// block waits, outside the executor's workers, until e is over. A worker of another executor blocks, as in Blocking.
func (ex *Executor) block(e ending) {
	for start := time.Now(); !e.isOver(); {
		waited := time.Since(start)
		if waited > waitSpin || ex.inline != nil { // time may stand still, as under testing/synctest
			Blocking(func() { <-e.Done() })
			return
		}
		if waited > politeSpin {
			osthread.Yield()
		}
	}
}
