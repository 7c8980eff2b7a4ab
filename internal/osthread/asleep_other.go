//go:build !linux || modelcheck

package osthread

// Asleep is false: no portable call tells what another thread does.
func Asleep(int64) bool { return false }
