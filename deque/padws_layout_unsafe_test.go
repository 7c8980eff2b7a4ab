package deque

import (
	"testing"
	"unsafe"

	"github.com/magpie-go/magpie/internal/pad"
	"github.com/stretchr/testify/require"
)

// Words that the owner writes with every push, words that thieves write, and words that both only read are on different
// lines. The items of two blocks share no line.
func TestPadWSLayout(t *testing.T) {
	apart := func(ends ...uintptr) { // begin and end of each area, in order
		for i := 2; i < len(ends); i += 2 {
			require.GreaterOrEqual(t, ends[i], ends[i-1]+pad.Size, "area %d", i/2)
		}
	}
	var d padWS[int]
	apart(0, unsafe.Offsetof(d.keep)+unsafe.Sizeof(d.keep),
		unsafe.Offsetof(d.epoch), unsafe.Offsetof(d.low)+unsafe.Sizeof(d.low),
		unsafe.Offsetof(d.asked), unsafe.Offsetof(d.asked)+unsafe.Sizeof(d.asked),
		unsafe.Offsetof(d.newest), unsafe.Offsetof(d.newest)+unsafe.Sizeof(d.newest),
		unsafe.Offsetof(d.oldest), unsafe.Offsetof(d.oldest)+unsafe.Sizeof(d.oldest),
		unsafe.Sizeof(d), unsafe.Sizeof(d))
	var b padBlock[int]
	apart(unsafe.Offsetof(b.claim), unsafe.Offsetof(b.claim)+unsafe.Sizeof(b.claim),
		unsafe.Offsetof(b.grant), unsafe.Offsetof(b.grant)+unsafe.Sizeof(b.grant),
		unsafe.Offsetof(b.done), unsafe.Offsetof(b.done)+unsafe.Sizeof(b.done),
		unsafe.Offsetof(b.items), unsafe.Offsetof(b.items)+unsafe.Sizeof(b.items),
		unsafe.Sizeof(b), unsafe.Sizeof(b))
	blocks := newPadBlocks[int](4, 3)
	for i := range blocks[1:] {
		last, first := &blocks[i].items[2], &blocks[i+1].items[0]
		require.GreaterOrEqual(t, uintptr(unsafe.Pointer(first)),
			uintptr(unsafe.Pointer(last))+unsafe.Sizeof(*last)+pad.Size)
	}
}
