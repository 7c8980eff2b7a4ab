//go:build !modelcheck

package stalls

// Init makes w watch the workers of host, from the first Wake on.
func (w *Watch) Init(host Host) { w.host = host }

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
