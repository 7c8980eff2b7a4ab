//go:build unix || windows

package osthread

import (
	"errors"
	"testing"
	"time"

	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/require"
)

// TestProcessCPU computes until the process's CPU clock has advanced. One that stands still is found.
func TestProcessCPU(t *testing.T) {
	begin := ProcessCPU()
	require.Positive(t, begin)
	testkit.Until(t, "the process's CPU clock advances", func() bool {
		for range 1_000_000 { // most of the time is spent here
		}
		return ProcessCPU() >= begin+20*time.Millisecond
	})
}

func TestErrUnsupported(t *testing.T) {
	require.ErrorIs(t, ErrUnsupported, errors.ErrUnsupported)
}
