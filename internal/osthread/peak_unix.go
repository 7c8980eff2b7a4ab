//go:build unix && !linux

package osthread

import "runtime"

// PeakRSS is the most memory, in bytes, that was resident since the process began; 0 if unknown.
//
// Any thread.
func PeakRSS() int64 {
	switch most := int64(rusage().Maxrss); runtime.GOOS {
	case "darwin", "ios":
		return most
	case "solaris", "illumos":
		return 0 // the field is not maintained
	default:
		return most << 10 // kilobytes
	}
}
