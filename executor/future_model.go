//go:build modelcheck

package executor

// awaitWord implements wordEnding.
func (f *future) awaitWord() {
	f.subscribeForWaiter()
	f.ends.Await(&ended)
}

// awaitWord implements wordEnding. The programs end the future before.
func (e firstEnd) awaitWord() { e.before.awaitWord() }
