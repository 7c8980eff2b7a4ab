//go:build !modelcheck

package executor

// FrameOf is frameOf. It is inlined into the caller, as frameOf is.
func FrameOf(p *struct{}) uintptr { return frameOf(p) }

// IsBeside is isBeside.
func IsBeside(here, other uintptr) bool { return isBeside(here, other) }

// NoFrameBeside is noFrameBeside.
func NoFrameBeside(here uintptr) uintptr { return noFrameBeside(here) }
