package deque

import (
	"testing"
	"unsafe"

	"github.com/magpie-go/magpie/internal/pad"
	"github.com/stretchr/testify/require"
)

// Words that the owner writes, those that thieves write and those that nobody writes are on lines of their own.
func TestKindsLayout(t *testing.T) {
	apart := func(end, begin uintptr) {
		t.Helper()
		require.GreaterOrEqual(t, begin, end+pad.Size)
	}
	var a ABP[int]
	apart(unsafe.Offsetof(a.slots)+unsafe.Sizeof(a.slots), unsafe.Offsetof(a.fresh))
	apart(unsafe.Offsetof(a.fresh)+unsafe.Sizeof(a.fresh), unsafe.Offsetof(a.bottom))
	apart(unsafe.Offsetof(a.bottom)+unsafe.Sizeof(a.bottom), unsafe.Offsetof(a.age))
	apart(unsafe.Offsetof(a.age)+unsafe.Sizeof(a.age), unsafe.Sizeof(a))

	var b BWoS[int]
	apart(unsafe.Offsetof(b.fresh)+unsafe.Sizeof(b.fresh), unsafe.Offsetof(b.ring))
	var f BWoSFIFO[int]
	apart(unsafe.Offsetof(f.fresh)+unsafe.Sizeof(f.fresh), unsafe.Offsetof(f.ring))

	var r blockRing[int]
	apart(unsafe.Offsetof(r.shift)+unsafe.Sizeof(r.shift), unsafe.Offsetof(r.first))
	apart(unsafe.Offsetof(r.first)+unsafe.Sizeof(r.first), unsafe.Sizeof(r))

	var k block[int]
	apart(unsafe.Offsetof(k.cells)+unsafe.Sizeof(k.cells), unsafe.Offsetof(k.word))
	apart(unsafe.Offsetof(k.done)+unsafe.Sizeof(k.done), unsafe.Sizeof(k))

	var c chaseLev[int]
	require.Equal(t, unsafe.Sizeof(c.fresh), unsafe.Offsetof(c.Deque), "on the line of what is the owner's")
	for _, align := range []uintptr{unsafe.Alignof(a), unsafe.Alignof(r), unsafe.Alignof(k)} {
		require.Equal(t, uintptr(8), align, "64-bit atomics on 32-bit systems")
	}
}
