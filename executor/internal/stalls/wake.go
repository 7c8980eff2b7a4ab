//go:build !modelcheck

package stalls

// Wake is called by a worker that goes on after a sleep, after it has stored its state. Any thread.
func (w *Watch) Wake() {
	if w.on.Load() == 0 {
		w.wake()
	}
}
