//go:build !linux || magpie_portable_park || modelcheck

package park

// A Place does nothing on this system.
type Place struct{}

// Note does nothing.
func (*Place) Note() {}

// Leave does nothing.
func (*Place) Leave() {}

// Return does nothing.
func (*Place) Return() {}

// Moves returns 0.
func (*Place) Moves() uint64 { return 0 }
