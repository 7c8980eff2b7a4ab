//go:build modelcheck

package stalls

// Wake does nothing: the model has no kernel to ask.
func (w *Watch) Wake() {}

// Submitted does nothing.
func (w *Watch) Submitted() {}
