//go:build !modelcheck

package osthread

import (
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// policies has the kernel's number of each Class.
var policies = [...]uint32{Normal: unix.SCHED_NORMAL, Batch: unix.SCHED_BATCH, Idle: unix.SCHED_IDLE}

// SetClass sets the class of the calling thread, and the default slice. The nice value stays. To leave Idle may need
// privileges.
func SetClass(c Class) error {
	return setAttr(func(a *unix.SchedAttr) { a.Policy, a.Priority, a.Runtime = policies[c], 0, 0 })
}

// SetSlice sets the slice of the calling thread, whose class must be Normal or Batch: for how long the kernel lets it
// run before another ready thread has its turn, 0.1 ms to 100 ms. Kernels before Linux 6.12 have one slice for all
// threads, which is an error that wraps [errors.ErrUnsupported].
func SetSlice(d time.Duration) error {
	if err := setAttr(func(a *unix.SchedAttr) { a.Runtime = uint64(d) }); err != nil {
		return err
	}
	a, err := getAttr()
	if err != nil {
		return err
	}
	if got := time.Duration(a.Runtime); got != d {
		return fmt.Errorf("the kernel ignores it, the slice is %v: it needs Linux 6.12: %w", got, ErrUnsupported)
	}
	return nil
}

// setAttr changes the calling thread's attributes of scheduling.
func setAttr(change func(*unix.SchedAttr)) error {
	a, err := getAttr()
	if err != nil {
		return err
	}
	change(a)
	return os.NewSyscallError("sched_setattr", unix.SchedSetAttr(0, a, 0))
}

func getAttr() (*unix.SchedAttr, error) {
	a, err := unix.SchedGetAttr(0, 0)
	return a, os.NewSyscallError("sched_getattr", err)
}
