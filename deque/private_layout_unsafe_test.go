package deque

import (
	"testing"
	"unsafe"

	"github.com/magpie-go/magpie/internal/pad"
	"github.com/stretchr/testify/require"
)

// Words that only the owner writes, words that others write too, and words that are never written are on different
// lines.
func TestPrivateLayout(t *testing.T) {
	apart := func(end, begin uintptr) {
		t.Helper()
		require.GreaterOrEqual(t, begin, end+pad.Size)
	}
	var r pdqr[int]
	apart(0, unsafe.Offsetof(r.own)) // a nil check of the pointer reads the first word
	apart(unsafe.Offsetof(r.untold)+unsafe.Sizeof(r.untold), unsafe.Offsetof(r.mail))
	apart(unsafe.Offsetof(r.mail)+unsafe.Sizeof(r.mail), unsafe.Offsetof(r.ask))
	apart(unsafe.Offsetof(r.idle)+unsafe.Sizeof(r.idle), unsafe.Sizeof(r))

	var s pdqs[int]
	require.Zero(t, unsafe.Offsetof(s.self))
	apart(unsafe.Offsetof(s.waiting)+unsafe.Sizeof(s.waiting), unsafe.Offsetof(s.own))
	apart(unsafe.Offsetof(s.mean)+unsafe.Sizeof(s.mean), unsafe.Offsetof(s.cell))
	apart(unsafe.Offsetof(s.cell)+unsafe.Sizeof(s.cell), unsafe.Sizeof(s))
}
