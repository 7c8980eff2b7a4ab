//go:build unix || windows

package osthread

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestProcessCPU computes until the process's CPU clock has advanced. A clock that stands still, or whose unit is wrong
// by a factor of a thousand, would keep it for hours.
func TestProcessCPU(t *testing.T) {
	begin, watchdog := ProcessCPU(), time.Now().Add(time.Minute)
	require.Positive(t, begin)
	for ProcessCPU() < begin+20*time.Millisecond {
		require.True(t, time.Now().Before(watchdog), "the process's CPU clock does not advance")
	}
}

func TestErrUnsupported(t *testing.T) {
	require.ErrorIs(t, ErrUnsupported, errors.ErrUnsupported)
}
