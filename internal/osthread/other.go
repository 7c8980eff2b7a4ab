//go:build !linux

package osthread

import "errors"

// Room is nil: what limits there are cannot be asked portably.
func Room(int) error { return nil }

// ResetPeakRSS is not possible here.
func ResetPeakRSS() error { return errors.ErrUnsupported }

// PeakRSS is unknown here: 0.
func PeakRSS() int64 { return 0 }

// AvailableMemory is unknown here: 0.
func AvailableMemory() int64 { return 0 }

// ThreadSwitches is unknown here.
func ThreadSwitches(int64) (voluntary, involuntary int64, err error) {
	return 0, 0, errors.ErrUnsupported
}
