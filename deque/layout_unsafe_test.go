package deque

import (
	"testing"
	"unsafe"

	"github.com/magpie-go/magpie/internal/pad"
	"github.com/stretchr/testify/require"
)

// No line has words that the owner writes with every push and words that thieves write. A deque does not share its last
// line with the memory after it.
func TestLayout(t *testing.T) {
	var d Deque[int]
	type area struct {
		name       string
		begin, end uintptr
	}
	areas := []area{
		{"what is first", 0, 0}, // a nil check of the pointer reads it
		{"owner only", unsafe.Offsetof(d.b), unsafe.Offsetof(d.ring) + unsafe.Sizeof(d.ring)},
		{"bottom, shared", unsafe.Offsetof(d.bottom), unsafe.Offsetof(d.shared) + unsafe.Sizeof(d.shared)},
		{"top", unsafe.Offsetof(d.top), unsafe.Offsetof(d.top) + unsafe.Sizeof(d.top)},
		{"next deque", unsafe.Sizeof(d), unsafe.Sizeof(d)},
	}
	for i, a := range areas[1:] {
		before := areas[i]
		require.GreaterOrEqual(t, a.begin, before.end+pad.Size, "%s and %s", before.name, a.name)
	}
	require.GreaterOrEqual(t, uintptr(pad.Size), uintptr(128))
	require.Zero(t, unsafe.Offsetof(d.bottom)%8)
	require.Zero(t, unsafe.Offsetof(d.top)%8)
	require.Equal(t, uintptr(8), unsafe.Alignof(d), "64-bit atomics on 32-bit systems")
}
