//go:build (linux && !amd64) || (!linux && !arm64) || modelcheck

package osthread

// Self returns a number that tells the calling thread from the other live threads: its [ID].
func Self() int64 { return ID() }
