//go:build !linux

package osthread

// ResetPeakRSS is not supported: PeakRSS counts from the beginning of the process.
func ResetPeakRSS() error { return ErrUnsupported }

// AvailableMemory is unknown: 0.
func AvailableMemory() int64 { return 0 }

// ThreadSwitches is not supported.
func ThreadSwitches(int64) (voluntary, involuntary int64, err error) {
	return 0, 0, ErrUnsupported
}
