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
	asked := unsafe.Offsetof(th.lent) + unsafe.Sizeof(th.lent)
	require.GreaterOrEqual(t, unsafe.Offsetof(th.id), uintptr(pad.Size))
	require.GreaterOrEqual(t, unsafe.Offsetof(th.pull), asked+pad.Size, "a puller disturbs no peer that asks")
	require.GreaterOrEqual(t, unsafe.Sizeof(th), unsafe.Offsetof(th.readers)+4+pad.Size)
}

// TestIsRegistered: the kernel tells where a thread's area is, and the registration stays.
func TestIsRegistered(t *testing.T) {
	needOwn(t)
	a := newActor(t)
	area := a.area.Load()
	addr := uintptr(unsafe.Pointer(area))
	a.do(func() {
		if !isRegistered(addr, areaSize) || isRegistered(addr+areaSize, areaSize) || isRegistered(addr, 2*areaSize) {
			t.Error("the area is not the one that is registered")
		}
	})
	require.NotEqual(t, noCPU, area.cpu.Load())
	require.False(t, isRegistered(addr, areaSize), "another thread")
	a.do(a.Leave)
	a.do(func() {
		if isRegistered(addr, areaSize) || isRegistered(0, areaSize) {
			t.Error("no area is registered")
		}
	})
}
