package deque

import (
	"testing"
	"unsafe"

	"github.com/magpie-go/magpie/internal/pad"
	"github.com/stretchr/testify/require"
)

// Words that the owner writes, those that others write too and those that nobody writes are on lines of their own.
func TestPrivateLayout(t *testing.T) {
	apart := func(end, begin uintptr) {
		t.Helper()
		require.GreaterOrEqual(t, begin, end+pad.Size)
	}
	var r pdqr[int]
	apart(0, unsafe.Offsetof(r.own)) // what checks a pointer for nil reads what is first
	apart(unsafe.Offsetof(r.untold)+unsafe.Sizeof(r.untold), unsafe.Offsetof(r.mail))
	apart(unsafe.Offsetof(r.mail)+unsafe.Sizeof(r.mail), unsafe.Offsetof(r.ask))
	apart(unsafe.Offsetof(r.idle)+unsafe.Sizeof(r.idle), unsafe.Sizeof(r))

	var s pdqs[int]
	require.Zero(t, unsafe.Offsetof(s.self))
	apart(unsafe.Offsetof(s.waiting)+unsafe.Sizeof(s.waiting), unsafe.Offsetof(s.own))
	apart(unsafe.Offsetof(s.mean)+unsafe.Sizeof(s.mean), unsafe.Offsetof(s.cell))
	apart(unsafe.Offsetof(s.cell)+unsafe.Sizeof(s.cell), unsafe.Sizeof(s))
}
