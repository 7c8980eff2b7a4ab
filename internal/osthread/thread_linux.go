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

// ID identifies the calling thread among those of the process. It costs a system call of some 50 ns: a raw one, as it
// never blocks and the P need not be offered to others. The kernel may give the id of a thread that has ended to a new
// one.
func ID() int64 {
	id, _, _ := syscall.RawSyscall(unix.SYS_GETTID, 0, 0, 0)
	return int64(id)
}

// IsMain reports whether the calling thread is the one that the process started with. A locked goroutine that ends there
// wedges it instead of ending it.
func IsMain() bool { return ID() == int64(os.Getpid()) }

// SetNice sets the nice value of the calling thread, -20 to 19; the kernel clamps what is beyond. Raising it needs no
// privilege, lowering it does: the error is then EACCES or EPERM.
func SetNice(nice int) error {
	return unix.Setpriority(unix.PRIO_PROCESS, int(ID()), nice)
}

// Yield gives the calling thread's core to another thread that is ready to run on it. Not runtime.Gosched, which makes a
// locked goroutine hand its P over and wait for it on a semaphore.
//
// Not inlined: its prologue is where a loop that does nothing but look and yield can be stopped for a garbage collection.
// The signal that would stop it elsewhere finds it in the system call, where the runtime cannot, nearly every time.
//
//go:noinline
func Yield() {
	_, _, _ = syscall.RawSyscall(unix.SYS_SCHED_YIELD, 0, 0, 0)
}

// Gone reports whether no thread of the process has this id any more.
//
// Any thread.
func Gone(id int64) bool {
	return errors.Is(unix.Tgkill(os.Getpid(), int(id), 0), unix.ESRCH)
}

// CPU is the processor time that a thread of the process has used, in user and system mode. It is an error if there is
// no such thread.
//
// Any thread.
func CPU(id int64) (time.Duration, error) {
	if id <= 0 { // the clock of the calling thread, or of anything
		return 0, fmt.Errorf("CPU clock of thread %d: %w", id, unix.EINVAL)
	}
	// What pthread_getcpuclockid computes: the complement of the id above three bits, which say that the clock is one
	// thread's (4) and counts what the scheduler accounts, in nanoseconds (2).
	clock := int32(^id<<3 | 4 | 2)
	var ts unix.Timespec
	if err := unix.ClockGettime(clock, &ts); err != nil {
		return 0, fmt.Errorf("CPU clock of thread %d: %w", id, err)
	}
	return time.Duration(ts.Nano()), nil
}
