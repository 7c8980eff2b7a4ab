//go:build !linux

package history

// pin does nothing: the system decides where threads run.
func pin(int) (unpin func()) { return func() {} }
