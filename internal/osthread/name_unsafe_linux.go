//go:build !modelcheck

package osthread

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// maxName is how many bytes of a thread's name the kernel keeps.
const maxName = 15

// SetName names the calling thread, for top, ps and debuggers. Of a name beyond 15 bytes it keeps the end, where a
// worker's name has its number.
func SetName(name string) error {
	var b [maxName + 1]byte
	copy(b[:maxName], name[max(0, len(name)-maxName):])
	return unix.Prctl(unix.PR_SET_NAME, uintptr(unsafe.Pointer(&b)), 0, 0, 0)
}
