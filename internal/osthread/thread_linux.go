//go:build !modelcheck

package osthread

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// ID identifies the calling thread among those of the process. It costs a system call of some 50 ns. The call is a raw
// one: it never blocks, so the P need not be offered to other goroutines. The kernel may give the id of a thread that
// has ended to a new thread.
func ID() int64 {
	id, _, _ := syscall.RawSyscall(unix.SYS_GETTID, 0, 0, 0)
	return int64(id)
}

// IsMain reports whether the calling thread is the one that the process started with. A locked goroutine that ends on
// that thread wedges it instead of ending it.
func IsMain() bool { return ID() == int64(os.Getpid()) }

// SetNice sets the nice value of the calling thread, -20 to 19; the kernel clamps other values. Raising it needs no
// privilege; lowering it does, and returns EACCES or EPERM without.
func SetNice(nice int) error {
	return unix.Setpriority(unix.PRIO_PROCESS, int(ID()), nice)
}

// Yield gives the calling thread's core to another thread that is ready to run on it. runtime.Gosched would not do: it
// makes a locked goroutine hand its P over and wait for it on a semaphore.
//
// Yield is not inlined, for the runtime stops a loop that only looks and yields at the prologue of Yield. Elsewhere the
// runtime's preemption signal nearly always finds the thread in the system call, where it cannot stop the goroutine.
//
//go:noinline
func Yield() {
	_, _, _ = syscall.RawSyscall(unix.SYS_SCHED_YIELD, 0, 0, 0)
}

// Gone reports whether no thread of the process has this id any longer.
//
// Any thread.
func Gone(id int64) bool {
	return errors.Is(unix.Tgkill(os.Getpid(), int(id), 0), unix.ESRCH)
}

// SelfGone is Gone for a number that Self has returned. It is false where such a number is not the ID.
//
// Any thread.
func SelfGone(self int64) bool { return Self() == ID() && Gone(self) }

// CPU returns the processor time that a thread of the process has used, in user and system mode. It returns an error if
// there is no such thread.
//
// Any thread.
func CPU(id int64) (time.Duration, error) {
	if id <= 0 { // such ids name the calling thread's clock, or another clock
		return 0, fmt.Errorf("CPU clock of thread %d: %w", id, unix.EINVAL)
	}
	// The formula of pthread_getcpuclockid: the complement of the id above three bits. The bits say that the clock is
	// that of one thread (4) and counts the nanoseconds that the scheduler accounts (2).
	clock := int32(^id<<3 | 4 | 2)
	var ts unix.Timespec
	if err := unix.ClockGettime(clock, &ts); err != nil {
		return 0, fmt.Errorf("CPU clock of thread %d: %w", id, err)
	}
	return time.Duration(ts.Nano()), nil
}

// SelfIsGoroutine says whether Self is a number of the goroutine and not of the thread.
const SelfIsGoroutine = false
