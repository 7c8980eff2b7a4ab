//go:build modelcheck

package executor

// block waits, outside the executor's workers, until e is over. A worker of another executor blocks, as in Blocking.
// The model knows no time.
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
