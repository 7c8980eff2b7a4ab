//go:build !unix

package osthread

// PeakRSS is unknown: 0.
func PeakRSS() int64 { return 0 }
