package osthread

import (
	"time"

	"golang.org/x/sys/windows"
)

// ProcessCPU returns the processor time that the process has used, in user and system mode.
//
// Any thread.
func ProcessCPU() time.Duration {
	var created, exited, kernel, user windows.Filetime
	if err := windows.GetProcessTimes(windows.CurrentProcess(), &created, &exited, &kernel, &user); err != nil {
		panic("osthread: GetProcessTimes: " + err.Error()) // GetProcessTimes fails for a wrong handle only
	}
	// A duration counts from zero: Filetime.Nanoseconds would subtract the epoch.
	ticks := func(f windows.Filetime) time.Duration {
		return time.Duration(int64(f.HighDateTime)<<32|int64(f.LowDateTime)) * 100
	}
	return ticks(kernel) + ticks(user)
}

// ContextSwitches is unknown here: 0.
func ContextSwitches() (voluntary, involuntary int64) { return 0, 0 }
