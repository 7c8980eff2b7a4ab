//go:build modelcheck

package executor

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
