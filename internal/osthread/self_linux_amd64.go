//go:build !modelcheck

package osthread

import "golang.org/x/sys/unix"

// Self returns a number that tells the calling thread from the other live threads, as [ID] does. It takes 3 ns instead
// of 80 where the processor and the kernel let programs read the FS register (Linux 5.9 and later), which points to the
// thread's local storage.
func Self() int64 {
	if readsFS {
		return fsBase()
	}
	return ID()
}

// fsBase returns the base address of the FS segment. Go and the C library both give each thread a segment of its own.
func fsBase() int64

// readsFS reports whether the kernel allows the instruction, which ends the process where it does not.
var readsFS = func() bool {
	const (
		hwcap2   = 26     // AT_HWCAP2
		fsgsBase = 1 << 1 // HWCAP2_FSGSBASE
	)
	all, _ := unix.Auxv() // empty if it fails
	for _, v := range all {
		if v[0] == hwcap2 {
			return v[1]&fsgsBase != 0
		}
	}
	return false
}()
