//go:build !linux

package bench

// pin is not supported.
func pin(int, int) (restore func()) { return func() {} }

// pinProcess is not supported.
func pinProcess(int) (restore func(), err error) {
	return nil, BadInput("-pin needs Linux")
}
