package osthread

// AvailableMemory returns how many bytes the process may still use before the system, its cgroup or a cgroup above
// refuses. The result is at least 1 where it is known; 0 means unknown.
//
// Any thread.
func AvailableMemory() int64 { return availableMemory(machine) }

func availableMemory(root fsys) int64 {
	free := readFields(root, "proc/meminfo")["MemAvailable"]
	lower := func(dir, limitFile, usedFile, reclaimableField string) {
		limit, ok1 := readInt(root, dir+"/"+limitFile)
		used, ok2 := readInt(root, dir+"/"+usedFile)
		if !ok1 || !ok2 || limit >= 1<<62 { // version 1 says "no limit" by a number near 2⁶³
			return
		}
		left := max(1, limit-used+readFields(root, dir+"/memory.stat")[reclaimableField])
		if free == 0 || left < free {
			free = left
		}
	}
	for _, dir := range cgroups(root, "") {
		lower(dir, "memory.max", "memory.current", "inactive_file")
	}
	for _, dir := range cgroups(root, "memory") {
		lower(dir, "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
	}
	return free
}
