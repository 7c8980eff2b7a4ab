//go:build !linux

package bench

// pin is not possible.
func pin(int, int) (restore func()) { return func() {} }
