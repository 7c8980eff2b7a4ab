//go:build !modelcheck

package executor

import (
	"runtime"
	"strconv"
	"time"

	"github.com/magpie-go/magpie/internal/osthread"
)

// waitSpin is how long Wait spins before it blocks: about the cost of blocking and being woken, so that at worst the
// wait takes twice the processor time that it needs. After politeSpin it offers its core in each round, because a woken
// worker may wait for that core.
const (
	waitSpin   = 50 * time.Microsecond
	politeSpin = 2 * time.Microsecond
)

// block waits until e is over. The caller is no worker of ex. On a worker of another executor it waits as in Blocking.
func (ex *core) block(e ending) {
	for start := time.Now(); !e.isOver(); {
		waited := time.Since(start)
		if waited > waitSpin || ex.inline != nil { // time may stand still, as under testing/synctest
			Blocking(e.await)
			return
		}
		if waited > politeSpin {
			osthread.Yield()
		}
	}
}

// giveWay is where a model program lets other threads go on.
func giveWay() {}

// goroutine returns the number of the calling goroutine, or 0. The runtime tells it nowhere else.
func goroutine() uint64 {
	var buf [64]byte
	number, _ := strconv.ParseUint(numberOf(buf[:runtime.Stack(buf[:], false)]), 10, 64)
	return number
}
