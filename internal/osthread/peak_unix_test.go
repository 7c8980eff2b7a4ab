//go:build darwin || linux || freebsd || netbsd || openbsd || dragonfly

package osthread

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestPeakRSSUnit tells bytes from kilobytes: a test binary uses more than a megabyte and less than a terabyte.
func TestPeakRSSUnit(t *testing.T) {
	require.Greater(t, PeakRSS(), int64(1<<20))
	require.Less(t, PeakRSS(), int64(1<<40))
}
