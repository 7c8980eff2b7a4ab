//go:build !linux && !modelcheck

package osthread

// Claim is nil: what limits there are cannot be asked portably.
func Claim(n, ps int) error { return nil }

// Arrive does nothing.
func Arrive() {}

// Unclaim does nothing.
func Unclaim() {}
