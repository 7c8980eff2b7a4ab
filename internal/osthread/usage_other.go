//go:build !linux

package osthread

// ResetPeakRSS is not possible: PeakRSS counts from the process's beginning.
func ResetPeakRSS() error { return ErrUnsupported }

// AvailableMemory is unknown: 0.
func AvailableMemory() int64 { return 0 }

// ThreadSwitches is not possible.
func ThreadSwitches(int64) (voluntary, involuntary int64, err error) {
	return 0, 0, ErrUnsupported
}
