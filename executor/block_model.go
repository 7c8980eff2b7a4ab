//go:build modelcheck

package executor

import "github.com/magpie-go/magpie/internal/osthread"

// block waits until e is over. The caller is no worker of ex. On a worker of another executor it waits as in Blocking.
// The model has no time, so it does not spin.
func (ex *core) block(e ending) {
	Blocking(func() {
		switch e := e.(type) {
		case *Run:
			e.over.Await()
		case *future:
			e.subscribeForWaiter()
			e.ends.Await(&ended)
		case firstEnd: // the programs end the future before
			e.before.subscribeForWaiter()
			e.before.ends.Await(&ended)
		case *until:
			e.await()
		}
	})
}

// endsForgotten is not set: the model has no garbage collector.
const endsForgotten = false

// giveWay lets other threads go on: a thief that may not sleep would run for ever.
func giveWay() { osthread.Yield() }

// goroutine is for stacks, at which no program looks: to find the number would take a tenth of the time.
func goroutine() uint64 { return 0 }
