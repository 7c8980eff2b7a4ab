//go:build !modelcheck

package peer

import (
	"fmt"
	"syscall"

	"golang.org/x/sys/unix"
)

// unsupported is an error of the kernel that keeps a feature from this process.
type unsupported struct {
	feature Feature
	call    string
	errno   syscall.Errno
	remedy  string
}

func (e *unsupported) Error() string {
	return fmt.Sprintf("peer: %v is not available: %s: %v: %s", e.feature, e.call, e.errno, e.remedy)
}

func (e *unsupported) Unwrap() []error { return []error{ErrUnsupported, e.errno} }

// filtered is the remedy where a filter of system calls is the likely cause.
const filtered = "a sandbox or container filters system calls: allow this one"

// rseqError explains the failure of a registration.
func rseqError(errno syscall.Errno) error {
	remedy := "unexpected: report it"
	switch errno {
	case unix.ENOSYS:
		remedy = "it takes Linux 4.18 or later with CONFIG_RSEQ, and no filter of system calls that hides it"
	case unix.EINVAL, unix.EBUSY:
		remedy = "the thread is registered already, as by the C library (glibc 2.35 or later) in a program that " +
			"links it, and the registered memory was not found (only amd64 looks for it): build with CGO_ENABLED=0, " +
			"or start the program with GLIBC_TUNABLES=glibc.pthread.rseq=0"
	case unix.EPERM, unix.EACCES:
		remedy = filtered
	case unix.ENOMEM:
		remedy = "there is no memory for the area that the kernel writes"
	}
	return &unsupported{SameCPU, "rseq", errno, remedy}
}

// clockError explains why the CPU clock of a live thread cannot be read.
func clockError(errno syscall.Errno) error {
	remedy := "unexpected: report it"
	switch errno {
	case unix.ENOSYS, unix.EPERM, unix.EACCES:
		remedy = filtered
	case unix.EINVAL:
		remedy = "this kernel has no CPU clocks of threads, or a sandbox in its place lacks them (CONFIG_POSIX_TIMERS)"
	}
	return &unsupported{Clock, "clock_gettime of a thread's CPU clock", errno, remedy}
}

// affinityError explains why the CPUs of a live thread of the process cannot be read or set.
func affinityError(call string, errno syscall.Errno) error {
	remedy := "unexpected: report it"
	switch errno {
	case unix.ENOSYS, unix.EPERM, unix.EACCES:
		remedy = filtered
	case unix.EINVAL:
		remedy = "the system has more than 1024 CPUs, or the thread's set of CPUs has changed: use a policy that " +
			"does not pull"
	}
	return &unsupported{Pull, call, errno, remedy}
}

// recordsError explains why a thread's switches cannot be recorded.
func recordsError(call string, errno syscall.Errno) error {
	remedy := "unexpected: report it"
	switch errno {
	case unix.EACCES, unix.EPERM:
		remedy = "set sysctl kernel.perf_event_paranoid to 2 or less, or let the process have CAP_PERFMON; a " +
			"container's filter of system calls has to allow the call as well"
		if call == "mmap" {
			remedy = "raise sysctl kernel.perf_event_mlock_kb or the limit on locked memory (ulimit -l)"
		}
	case unix.ENOSYS, unix.ENOENT, unix.EOPNOTSUPP, unix.ENODEV:
		remedy = "the kernel has no performance events (CONFIG_PERF_EVENTS)"
	case unix.EINVAL, unix.E2BIG:
		remedy = "it takes Linux 4.3 or later"
	case unix.EMFILE, unix.ENFILE:
		remedy = "raise the limit on open files (ulimit -n)"
	case unix.ENOMEM:
		remedy = "there is no memory for the records"
	case unix.ESRCH:
		remedy = "there is no such thread"
	}
	return &unsupported{Records, call, errno, remedy}
}
