//go:build !linux || modelcheck

package peer

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestUnsupported(t *testing.T) {
	var a, b Thread
	for f := range Records + 1 {
		require.ErrorIs(t, Has(f), ErrUnsupported)
	}
	require.ErrorIs(t, a.Enter(), ErrUnsupported)
	defer a.Leave()
	require.False(t, a.SharesCPU(&b))
	require.Zero(t, a.ID())
	_, ok := a.Clock()
	require.False(t, ok)
	require.ErrorIs(t, a.Pull(&b), ErrUnsupported)
	r, err := Record(a.ID())
	require.ErrorIs(t, err, ErrUnsupported)
	var counts Counts
	require.True(t, r.Check(&counts, func() bool { return true }))
	require.Equal(t, Counts{Unknown: 1}, counts)
	require.Equal(t, Unknown, r.State())
	require.NoError(t, r.Close())
}
