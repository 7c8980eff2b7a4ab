//go:build !linux && !modelcheck

package osthread

// Claim returns nil: no portable call tells the limits.
func Claim(n, ps int) error { return nil }

// Arrive does nothing.
func Arrive() {}

// Unclaim does nothing.
func Unclaim() {}
