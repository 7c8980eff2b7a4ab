//go:build modelcheck

package executor

import "github.com/magpie-go/magpie/internal/osthread"

// block waits until e is over. The caller is no worker of ex. On a worker of another executor it waits as in Blocking.
// The model has no time, so it does not spin.
func (ex *Executor) block(e ending) {
	Blocking(func() {
		switch e := e.(type) {
		case *Run:
			e.over.Await()
		case *future:
			e.ends.Await(&ended)
		}
	})
}

// giveWay lets other threads go on: a thief that may not sleep would run for ever.
func giveWay() { osthread.Yield() }
