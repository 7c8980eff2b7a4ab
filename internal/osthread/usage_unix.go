//go:build unix

package osthread

import (
	"time"

	"golang.org/x/sys/unix"
)

// ProcessCPU returns the processor time that the process has used, in user and system mode.
//
// Any thread.
func ProcessCPU() time.Duration {
	u := rusage()
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// ContextSwitches returns how often threads of the process gave up their core, and how often they were preempted.
//
// Any thread.
func ContextSwitches() (voluntary, involuntary int64) {
	u := rusage()
	return int64(u.Nvcsw), int64(u.Nivcsw)
}

func rusage() (u unix.Rusage) {
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		panic("osthread: getrusage: " + err.Error()) // Getrusage fails for wrong arguments only
	}
	return u
}
