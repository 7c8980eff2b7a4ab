//go:build !modelcheck

package stalls

// Wake is called by a worker that goes on after a sleep, after it has stored its state. Any thread.
func (w *Watch) Wake() {
	if w.on.Load() == 0 {
		w.wake()
	}
}

// Submitted is called after an item was made available from outside, which may need a stand-in soon. Any thread.
func (w *Watch) Submitted() {
	if w.slow.Load() != 0 {
		w.hurry()
	}
}
