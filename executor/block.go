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

// block waits, outside the executor's workers, until e is over.
func (ex *Executor) block(e ending) {
	blocksHere()
	if ex.inline != nil {
		<-e.Done() // another goroutine is the worker; time may stand still, as under testing/synctest
		return
	}
	for start := time.Now(); !e.isOver(); {
		waited := time.Since(start)
		if waited > waitSpin {
			<-e.Done()
			return
		}
		if waited > politeSpin {
			osthread.Yield()
		}
	}
}
