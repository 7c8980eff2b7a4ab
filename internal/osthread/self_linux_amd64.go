//go:build !modelcheck

package osthread

import "golang.org/x/sys/unix"

// Self tells the calling thread from the others that live, as [ID] does, with other numbers: 3 ns instead of 80 where the
// processor and the kernel let programs read the FS register (Linux 5.9 and later), which points to what is the thread's own.
func Self() int64 {
	if readsFS {
		return fsBase()
	}
	return ID()
}

// fsBase is the base address of the FS segment. Go and the C library alike give each thread one of its own.
func fsBase() int64

// readsFS is what the kernel says of the instruction: elsewhere it ends the process.
var readsFS = func() bool {
	const (
		hwcap2   = 26     // AT_HWCAP2
		fsgsBase = 1 << 1 // HWCAP2_FSGSBASE
	)
	all, _ := unix.Auxv() // nothing, if it fails
	for _, v := range all {
		if v[0] == hwcap2 {
			return v[1]&fsgsBase != 0
		}
	}
	return false
}()
