//go:build modelcheck

package stalls

// Init does nothing: the model has no kernel to ask, and no time.
func (w *Watch) Init(Host) {}

// Wake does nothing.
func (w *Watch) Wake() {}

// Submitted does nothing.
func (w *Watch) Submitted() {}
