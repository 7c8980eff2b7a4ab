//go:build !((linux && amd64) || arm64) || modelcheck

package osthread

// Goroutine returns 0: no code here reads the number of the calling goroutine.
func Goroutine() uint64 { return 0 }
