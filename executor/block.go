//go:build !modelcheck

package executor

import (
	"runtime"
	"strconv"
	"time"

	"github.com/magpie-go/magpie/executor/internal/spin"
	"github.com/magpie-go/magpie/internal/osthread"
)

// block waits until e is over. The caller is no worker of ex. On a worker of another executor it waits as in Blocking.
func (ex *core) block(e ending) {
	if e.isOver() {
		return
	}
	most := ex.spins.Next()
	for start := time.Now(); !e.isOver(); {
		waited := time.Since(start)
		if waited > most || ex.inline != nil { // time may stand still, as under testing/synctest
			ex.spins.Note(most, true)
			Blocking(e.await)
			return
		}
		if waited > spin.Brief {
			osthread.Yield()
		}
	}
	ex.spins.Note(most, false)
}

// giveWay is where a model program lets other threads go on.
func giveWay() {}

// goroutine returns the number of the calling goroutine, or 0. The runtime tells it nowhere else.
func goroutine() uint64 {
	var buf [64]byte
	number, _ := strconv.ParseUint(numberOf(buf[:runtime.Stack(buf[:], false)]), 10, 64)
	return number
}
