//go:build modelcheck

package executor

import "github.com/magpie-go/magpie/internal/osthread"

// A wordEnding is an ending as a model program waits for it: on a word, where it can. That takes fewer operations than
// a channel.
type wordEnding interface{ awaitWord() }

// awaitWord implements wordEnding.
func (r *Run) awaitWord() { r.over.Await() }

// awaitWord is await: the state that u waits for comes before the end of its run.
func (u *until) awaitWord() { u.await() }

// block waits until e is over. The caller is no worker of ex. On a worker of another executor it waits as in Blocking.
// The model has no time, so it does not spin.
func (ex *core) block(e ending) {
	Blocking(e.(wordEnding).awaitWord)
}

// giveWay lets other threads go on: a thief that may not sleep would run for ever.
func giveWay() { osthread.Yield() }

// goroutine is for stacks, at which no program looks: to find the number would take a tenth of the time.
func goroutine() uint64 { return 0 }
