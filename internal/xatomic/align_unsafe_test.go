package xatomic_test

import (
	"testing"
	"unsafe"

	"github.com/magpie-go/magpie/internal/xatomic"
	"github.com/stretchr/testify/require"
)

// 64-bit atomics fault on a 32-bit system unless the word is aligned, wherever the Span is embedded.
func TestSpanIsAligned(t *testing.T) {
	require.Equal(t, uintptr(8), unsafe.Sizeof(xatomic.Span{}))
	require.Equal(t, uintptr(8), unsafe.Alignof(xatomic.Span{}))
	type record struct {
		_    uint32
		span xatomic.Span
		_    uint32
	}
	records := make([]record, 3)
	for i := range records {
		require.Zero(t, uintptr(unsafe.Pointer(&records[i].span))%8)
		records[i].span.Set(0, 1)
		_, ok := records[i].span.Claim()
		require.True(t, ok)
	}
}

func TestSizes(t *testing.T) {
	require.Equal(t, uintptr(4), unsafe.Sizeof(xatomic.JoinCount{}))
	require.Equal(t, unsafe.Sizeof(uintptr(0)), unsafe.Sizeof(xatomic.Slot[int]{}))
}
