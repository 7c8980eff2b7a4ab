package osthread

import (
	"fmt"
	"os"
)

// ResetPeakRSS makes PeakRSS begin again from what is resident now.
func ResetPeakRSS() error { return os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) }

// PeakRSS is the most memory, in bytes, that was resident since the process began or ResetPeakRSS.
func PeakRSS() int64 { return readFields(os.DirFS("/"), "proc/self/status")["VmHWM"] }

// ThreadSwitches is how often a thread of the process gave up its core, and how often it was taken away.
func ThreadSwitches(id int64) (voluntary, involuntary int64, err error) {
	dir := fmt.Sprintf("/proc/self/task/%d", id)
	if _, err := os.Stat(dir); err != nil {
		return 0, 0, err
	}
	m := readFields(os.DirFS(dir), "status")
	return m["voluntary_ctxt_switches"], m["nonvoluntary_ctxt_switches"], nil
}

// AvailableMemory is how many bytes the process may still use before the system or its cgroup refuses; 0 if unknown.
func AvailableMemory() int64 { return availableMemory(os.DirFS("/")) }

func availableMemory(root fsys) int64 {
	free := readFields(root, "proc/meminfo")["MemAvailable"]
	lower := func(limit, used, reclaimable int64) {
		// Nothing left is one byte: 0 says that nothing is known.
		if left := max(1, limit-used+reclaimable); free == 0 || left < free {
			free = left
		}
	}
	for _, dir := range cgroups(root) {
		limit, ok1 := readInt(root, dir+"/memory.max")
		used, ok2 := readInt(root, dir+"/memory.current")
		if ok1 && ok2 {
			lower(limit, used, readFields(root, dir+"/memory.stat")["inactive_file"])
		}
	}
	// Version 1, as seen from inside a container.
	const v1 = "sys/fs/cgroup/memory"
	if limit, ok := readInt(root, v1+"/memory.limit_in_bytes"); ok {
		used, _ := readInt(root, v1+"/memory.usage_in_bytes")
		lower(limit, used, readFields(root, v1+"/memory.stat")["total_inactive_file"])
	}
	return free
}
