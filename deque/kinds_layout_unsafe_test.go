package deque

import (
	"testing"
	"unsafe"

	"github.com/magpie-go/magpie/internal/pad"
	"github.com/stretchr/testify/require"
)

// Words that the owner writes, words that thieves write, and words that are never written are on different lines.
func TestKindsLayout(t *testing.T) {
	apart := func(end, begin uintptr) {
		t.Helper()
		require.GreaterOrEqual(t, begin, end+pad.Size)
	}
	var a abp[int]
	apart(unsafe.Offsetof(a.slots)+unsafe.Sizeof(a.slots), unsafe.Offsetof(a.bottom))
	apart(unsafe.Offsetof(a.bottom)+unsafe.Sizeof(a.bottom), unsafe.Offsetof(a.age))
	apart(unsafe.Offsetof(a.age)+unsafe.Sizeof(a.age), unsafe.Sizeof(a))

	var b bwos[int]
	require.Zero(t, unsafe.Offsetof(b.ring), "what checks a pointer for nil reads what is first")
	apart(unsafe.Offsetof(b.ring)+unsafe.Sizeof(b.ring)-pad.Size, unsafe.Offsetof(b.number))
	apart(unsafe.Offsetof(b.low)+unsafe.Sizeof(b.low), unsafe.Sizeof(b))
	var f bwosFIFO[int]
	require.Zero(t, unsafe.Offsetof(f.ring))
	apart(unsafe.Offsetof(f.out)+unsafe.Sizeof(f.out), unsafe.Sizeof(f))

	var r blockRing[int]
	apart(unsafe.Offsetof(r.shift)+unsafe.Sizeof(r.shift), unsafe.Offsetof(r.first))
	apart(unsafe.Offsetof(r.first)+unsafe.Sizeof(r.first), unsafe.Sizeof(r))

	var k block[int]
	apart(unsafe.Offsetof(k.cells)+unsafe.Sizeof(k.cells), unsafe.Offsetof(k.word))
	apart(unsafe.Offsetof(k.done)+unsafe.Sizeof(k.done), unsafe.Sizeof(k))

	var c chaseLev[int]
	require.Zero(t, unsafe.Offsetof(c.Deque))

	var m adws[int]
	require.Zero(t, unsafe.Offsetof(m.ask))
	apart(unsafe.Offsetof(m.ask)+unsafe.Sizeof(m.ask), unsafe.Offsetof(m.own))
	apart(unsafe.Offsetof(m.keep)+unsafe.Sizeof(m.keep), unsafe.Offsetof(m.mail))
	apart(unsafe.Offsetof(m.mail)+unsafe.Sizeof(m.mail), unsafe.Sizeof(m))
	for _, align := range []uintptr{unsafe.Alignof(a), unsafe.Alignof(r), unsafe.Alignof(k)} {
		require.Equal(t, uintptr(8), align, "64-bit atomics on 32-bit systems")
	}
}
