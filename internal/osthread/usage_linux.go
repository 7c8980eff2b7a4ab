package osthread

import (
	"fmt"
	"os"
)

// ResetPeakRSS makes PeakRSS count from what is resident now. A hardened kernel may refuse it.
//
// Any thread.
func ResetPeakRSS() error { return os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) }

// PeakRSS returns the most memory, in bytes, that was resident since the process began or since ResetPeakRSS; 0 if
// unknown.
//
// Any thread.
func PeakRSS() int64 { return readFields(machine, "proc/self/status")["VmHWM"] }

// ThreadSwitches returns how often a thread of the process gave up its core, and how often it was preempted. It returns
// an error if there is no such thread.
//
// Any thread.
func ThreadSwitches(id int64) (voluntary, involuntary int64, err error) {
	name := fmt.Sprintf("proc/self/task/%d/status", id)
	if _, err := os.Stat("/" + name); err != nil {
		return 0, 0, err
	}
	m := readFields(machine, name)
	voluntary, ok1 := m["voluntary_ctxt_switches"]
	involuntary, ok2 := m["nonvoluntary_ctxt_switches"]
	if !ok1 || !ok2 { // the thread ended after Stat
		return 0, 0, fmt.Errorf("context switches of thread %d: %w", id, os.ErrNotExist)
	}
	return voluntary, involuntary, nil
}
