//go:build !linux && !modelcheck

package osthread

// Claim returns nil: no portable call tells the limits.
func Claim(n, ps int) error { return nil }

// Arrive does nothing.
func Arrive() {}

// Unclaim does nothing.
func Unclaim() {}

// ArrivePs does nothing.
func ArrivePs(ps int) {}

// ComingPs returns 0.
func ComingPs() int { return 0 }

// ClaimAnyway does nothing.
func ClaimAnyway() {}

// ClaimSpare returns true.
func ClaimSpare() bool { return true }

// AfterRefusal does nothing: there is none.
func AfterRefusal(key any, again func()) {}
