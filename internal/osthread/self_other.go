//go:build !(linux && amd64) || modelcheck

package osthread

// Self tells the calling thread from the others that live: [ID].
func Self() int64 { return ID() }
