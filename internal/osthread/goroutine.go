//go:build ((linux && amd64) || arm64) && !modelcheck

package osthread

// Goroutine returns a number that tells the calling goroutine from the other live ones: the address of what the runtime
// knows of it, which is not freed. The next goroutine after one that has ended may have its number. Where no code reads
// it, Goroutine returns 0.
func Goroutine() uint64
