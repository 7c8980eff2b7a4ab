//go:build !modelcheck

package peer

import (
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// A place is where the C library has the areas of its threads: at one distance from each thread's thread pointer.
type place struct{ offset, size uintptr }

// library is the place of the C library's areas. It is nil until an area was found.
var library atomic.Pointer[place]

// libraryArea returns the area that the C library has registered for the calling thread. It is the thread's memory,
// valid until the thread ends. It is nil if it was not found.
//
// glibc tells the distance in a variable, __rseq_offset, that Go cannot name without cgo. So the kernel is asked about
// each distance instead, once for the process, and about the one found, for each thread.
func libraryArea() *area {
	base := threadPointer()
	if base == 0 {
		return nil
	}
	at := library.Load()
	if at == nil {
		at = findPlace(base)
	}
	if at == nil || !system.isRegistered(base+at.offset, at.size) {
		return nil
	}
	library.Store(at)
	return areaAt(base + at.offset)
}

// reach is how far from the thread pointer an area is looked for. glibc has it in the thread's descriptor, less than
// 3 KiB away, and since 2.41 next to the thread's variables, of which a large program has some kilobytes. The whole
// search takes about a millisecond. Arbitrary.
const reach = 64 << 10

// findPlace looks for the area of the calling thread, near ones first.
func findPlace(base uintptr) *place {
	sizes := areaSizes()
	for distance := uintptr(0); distance <= reach; distance += areaSize { // areas are aligned to the original size
		for _, offset := range [...]uintptr{distance, -distance} {
			for _, size := range sizes {
				if system.isRegistered(base+offset, size) {
					return &place{offset, size}
				}
			}
		}
	}
	return nil
}

// areaSizes returns the sizes with which a library may have registered its areas: the original one, and those that fit
// what the kernel says that it writes.
func areaSizes() []uintptr {
	const featureSize, align = 27, 28 // AT_RSEQ_FEATURE_SIZE, AT_RSEQ_ALIGN
	var size, to uintptr
	all, _ := unix.Auxv() // empty if it fails
	for _, v := range all {
		switch v[0] {
		case featureSize:
			size = v[1]
		case align:
			to = v[1]
		}
	}
	if size <= areaSize || to == 0 {
		return []uintptr{areaSize}
	}
	return []uintptr{areaSize, size, (size + to - 1) / to * to}
}
