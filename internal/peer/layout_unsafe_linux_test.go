//go:build !modelcheck

package peer

import (
	"testing"
	"unsafe"

	"github.com/magpie-go/magpie/internal/pad"
	"github.com/stretchr/testify/require"
)

func TestLayout(t *testing.T) {
	var a area
	require.EqualValues(t, pad.Size, unsafe.Sizeof(a))
	require.EqualValues(t, 4, unsafe.Offsetof(a.cpu))
	require.EqualValues(t, 8, unsafe.Offsetof(a.section))
	require.EqualValues(t, 24, unsafe.Offsetof(a.mmCID))

	all, errno := mapAreas()
	require.Zero(t, errno)
	require.NotEmpty(t, all)
	for _, a := range all {
		require.Zero(t, uintptr(unsafe.Pointer(a))%pad.Size)
	}

	var th Thread
	asked := unsafe.Offsetof(th.area) + unsafe.Sizeof(th.area)
	require.GreaterOrEqual(t, unsafe.Offsetof(th.id), uintptr(pad.Size))
	require.GreaterOrEqual(t, unsafe.Offsetof(th.pull), asked+pad.Size, "a puller disturbs no peer that asks")
	require.GreaterOrEqual(t, unsafe.Sizeof(th), unsafe.Offsetof(th.again)+8+pad.Size)
}
