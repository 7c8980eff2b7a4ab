package hugepage

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

const pageSize = 2 << 20

// advise makes the request for the whole huge pages inside s. The runtime gives large zeroed arrays fresh from the
// kernel without touching them, so nothing is populated yet.
func advise[T any](s []T) {
	var t T
	size := uintptr(len(s)) * unsafe.Sizeof(t)
	if size < minBytes {
		return
	}
	first := unsafe.Pointer(unsafe.SliceData(s))
	skip := -uintptr(first) % pageSize
	length := (size - skip) / pageSize * pageSize
	// An error means that this kernel has no huge pages: nothing to do about it.
	_ = unix.Madvise(unsafe.Slice((*byte)(unsafe.Add(first, skip)), length), unix.MADV_HUGEPAGE)
}
