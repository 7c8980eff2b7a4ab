package hugepage

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

const pageSize = 2 << 20

// advise asks for the whole huge pages inside s. The runtime takes large zeroed arrays fresh from the kernel and does
// not touch them, so no page is populated yet.
func advise[T any](s []T) {
	var t T
	size := uintptr(len(s)) * unsafe.Sizeof(t)
	if size < minBytes {
		return
	}
	first := unsafe.Pointer(unsafe.SliceData(s))
	skip := -uintptr(first) % pageSize
	length := (size - skip) / pageSize * pageSize
	// An error means that this kernel has no huge pages: the array works all the same.
	_ = unix.Madvise(unsafe.Slice((*byte)(unsafe.Add(first, skip)), length), unix.MADV_HUGEPAGE)
}
