//go:build !linux && arm64 && !modelcheck

package osthread

// Self returns [Goroutine]: of a goroutine that is locked to its thread, the number serves as well. It is in a
// register, and [ID] in a stack trace.
func Self() int64 { return int64(Goroutine()) }
