//go:build linux && !magpie_portable_park && !modelcheck

package park

import (
	"syscall"
	"unsafe"

	"github.com/magpie-go/magpie/internal/xatomic"
	"golang.org/x/sys/unix"
)

// Kind names how threads sleep in this build.
const Kind = "futex"

// From linux/futex.h; private: no other process shares the word.
const (
	futexPrivate     = 128
	futexWaitPrivate = 0 | futexPrivate
	futexWakePrivate = 1 | futexPrivate
)

// sleeper is empty: the kernel queues threads by the word's address. The word must not move. Go moves stacks, never
// heap objects, and a Parker that two threads know is on the heap.
type sleeper struct{}

// futexWait sleeps while *word == while. A test replaces it to make waits end early.
var futexWait = func(word *xatomic.Uint32, while uint32) syscall.Errno {
	// Syscall6 releases the P: with RawSyscall6 every stop-the-world would wait until the thread wakes.
	_, _, errno := syscall.Syscall6(unix.SYS_FUTEX,
		uintptr(unsafe.Pointer(word)), futexWaitPrivate, uintptr(while), 0, 0, 0)
	return errno
}

func (sleeper) sleep(word *xatomic.Uint32, while uint32) {
	monitor.note()
	switch errno := futexWait(word, while); errno {
	case 0, syscall.EAGAIN, syscall.EINTR:
	default:
		// ENOSYS under a seccomp filter, or EFAULT: a retry would spin for ever.
		panic("park: futex wait: " + errno.Error() +
			"; build with -tags magpie_portable_park if this system has no futex")
	}
}

func (sleeper) wake(word *xatomic.Uint32) {
	// RawSyscall6 is right for a wake, which does not block.
	_, _, errno := syscall.RawSyscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(word)), futexWakePrivate, 1, 0, 0, 0)
	if errno != 0 {
		panic("park: futex wake: " + errno.Error() +
			"; build with -tags magpie_portable_park if this system has no futex")
	}
}
