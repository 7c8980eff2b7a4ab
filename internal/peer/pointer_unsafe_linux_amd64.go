//go:build !modelcheck

package peer

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// threadPointer returns the calling thread's thread pointer, from which the C library counts, or 0 if it is not known.
// It is the base of the FS segment.
func threadPointer() (base uintptr) {
	const getFS = 0x1003 // ARCH_GET_FS
	_, _, errno := syscall.RawSyscall(unix.SYS_ARCH_PRCTL, getFS, uintptr(unsafe.Pointer(&base)), 0)
	if errno != 0 {
		return 0
	}
	return base
}
