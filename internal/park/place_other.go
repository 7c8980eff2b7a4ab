//go:build !linux || magpie_portable_park || modelcheck

package park

// A Place does nothing on this system.
type Place struct{}

// Note does nothing.
func (*Place) Note() {}

// Leave returns 0.
func (*Place) Leave() (thread int) { return 0 }

// Return does nothing.
func Return(thread int) {}

// Moves returns 0.
func (*Place) Moves() uint64 { return 0 }
