//go:build !linux && !modelcheck

package osthread

// Room is nil: what limits there are cannot be asked portably.
func Room(int) error { return nil }
