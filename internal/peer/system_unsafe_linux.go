//go:build !modelcheck

package peer

import (
	"errors"
	"runtime"
	"sync/atomic"
	"syscall"
	"unsafe"

	"github.com/magpie-go/magpie/internal/pad"
	"golang.org/x/sys/unix"
)

// The system calls of this package. Tests replace them to make them fail.
var system = struct {
	rseq         func(a *area, flags uintptr) syscall.Errno
	isRegistered func(addr, size uintptr) bool
	clock        func(id int64) (ns int64, errno syscall.Errno)
	affinity     func(id int64, set *unix.CPUSet) syscall.Errno
	setAffinity  func(id int64, set *unix.CPUSet) syscall.Errno
	recordFile   func(id int64) (fd int, errno syscall.Errno)
}{rseq, isRegistered, threadClock, affinity, setAffinity, recordFile}

// An area is the kernel's struct rseq for one thread: the kernel writes it each time that it has switched the thread in
// or moved it, before the thread goes on in user mode. The areas of this package are on lines of their own.
type area struct {
	cpuStart uint32
	cpu      atomic.Uint32 // the CPU that the thread was last seen on in user mode; noCPU without a registration
	section  uint64        // 0: no critical section
	flags    uint32
	node     uint32
	mmCID    uint32
	_        uint32
	_        [pad.Size - areaSize]byte
}

const (
	areaSize   = 32 // of the original struct, which every kernel with rseq accepts
	noCPU      = ^uint32(0)
	unregister = 1 // RSEQ_FLAG_UNREGISTER
)

// signature is the number that stands before the abort handler of a critical section. There are no such sections here.
// The kernel asks for the same number when a thread unregisters. Each architecture has a customary one.
var signature = func() uintptr {
	switch runtime.GOARCH {
	case "arm64":
		return 0xd428bc00
	case "arm":
		return 0xe7f5def3
	case "riscv64":
		return 0xf1401073
	case "s390x":
		return 0xb2ff0fff
	case "ppc64", "ppc64le":
		return 0x0fe5000b
	case "mips", "mipsle", "mips64", "mips64le":
		return 0x0350000d
	}
	return 0x53053053 // amd64, 386
}()

// rseq registers the area for the calling thread, or unregisters it.
func rseq(a *area, flags uintptr) syscall.Errno {
	_, _, errno := syscall.RawSyscall6(unix.SYS_RSEQ, uintptr(unsafe.Pointer(a)), areaSize, flags, signature, 0, 0)
	return errno
}

// isRegistered reports whether the calling thread is registered with the area at addr, of that size.
//
// It asks to unregister the area, with a wrong signature. The kernel refuses that in any case: by EPERM if the area is
// the thread's, and by EINVAL if not. It reads and writes no memory for that.
func isRegistered(addr, size uintptr) bool {
	_, _, errno := syscall.RawSyscall6(unix.SYS_RSEQ, addr, size, unregister, uintptr(^uint32(signature)), 0, 0)
	return errno == unix.EPERM
}

// areaAt returns the area at an address outside of Go's heap.
func areaAt(addr uintptr) *area { return *(**area)(unsafe.Pointer(&addr)) }

// mapAreas returns a page of areas. The page is never unmapped.
func mapAreas() ([]*area, syscall.Errno) {
	page, err := unix.Mmap(
		-1, 0, unix.Getpagesize(), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	if err != nil {
		return nil, errnoOf(err)
	}
	var all []*area
	for i := 0; i+int(unsafe.Sizeof(area{})) <= len(page); i += int(unsafe.Sizeof(area{})) {
		a := (*area)(unsafe.Pointer(&page[i]))
		a.cpu.Store(noCPU)
		all = append(all, a)
	}
	return all, 0
}

// threadClock reads the CPU clock of a thread of the process. The call is a raw one: it never blocks.
func threadClock(id int64) (ns int64, errno syscall.Errno) {
	// The formula of pthread_getcpuclockid: the complement of the id above three bits. The bits say that the clock is
	// that of one thread (4) and counts the nanoseconds that the scheduler accounts (2).
	clock := int32(^id<<3 | 4 | 2)
	var ts unix.Timespec
	_, _, errno = syscall.RawSyscall(unix.SYS_CLOCK_GETTIME, uintptr(clock), uintptr(unsafe.Pointer(&ts)), 0)
	return ts.Nano(), errno
}

func affinity(id int64, set *unix.CPUSet) syscall.Errno {
	return errnoOf(unix.SchedGetaffinity(int(id), set))
}

func setAffinity(id int64, set *unix.CPUSet) syscall.Errno {
	return errnoOf(unix.SchedSetaffinity(int(id), set))
}

// pause sleeps for some time. The Go runtime may give the P to another thread meanwhile.
func pause(ns int64) {
	ts := unix.NsecToTimespec(ns)
	_, _, _ = syscall.Syscall(unix.SYS_NANOSLEEP, uintptr(unsafe.Pointer(&ts)), 0, 0)
}

// errnoOf returns the error number of a system call's error, 0 for nil.
func errnoOf(err error) syscall.Errno {
	if err == nil {
		return 0
	}
	errno, ok := errors.AsType[syscall.Errno](err)
	if !ok {
		panic("peer: not an error of a system call: " + err.Error())
	}
	return errno
}
