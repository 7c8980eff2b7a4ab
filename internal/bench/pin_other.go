//go:build !linux

package bench

// pin is not supported.
func pin(int, int) (restore func()) { return func() {} }
