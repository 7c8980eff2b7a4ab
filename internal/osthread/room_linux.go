package osthread

import (
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// Room reports whether the system lets the process start n more threads. The Go runtime ends the process when it cannot
// start one, so this has to be asked beforehand. It is a snapshot: others may take what was there.
func Room(n int) error {
	limits := threadLimits(os.DirFS("/"))
	var r unix.Rlimit
	// RLIMIT_NPROC counts the threads of the user in all processes, and does not bind root.
	if unix.Geteuid() != 0 && unix.Getrlimit(unix.RLIMIT_NPROC, &r) == nil && r.Cur < 1<<62 {
		limits = append(limits, limit{"the user's limit (ulimit -u)", int64(r.Cur), threadsOf("/proc", uint32(unix.Geteuid())), "raise it"})
	}
	return checkRoom(limits, n)
}

// threadsOf counts the threads of a user's processes.
func threadsOf(proc string, uid uint32) (n int64) {
	dirs, _ := filepath.Glob(proc + "/[0-9]*")
	for _, dir := range dirs {
		var st unix.Stat_t
		if unix.Stat(dir, &st) == nil && st.Uid == uid {
			status := readFields(os.DirFS(dir), "status")
			n += status["Threads"]
		}
	}
	return n
}

// threadLimits reads what files tell of limits.
func threadLimits(root fsys) []limit {
	status := readFields(root, "proc/self/status")
	limits := []limit{{"the Go runtime's limit", maxThreads, status["Threads"], "raise it with debug.SetMaxThreads"}}
	if most, ok := readInt(root, "proc/sys/kernel/threads-max"); ok {
		limits = append(limits, limit{"kernel.threads-max", most, allThreads(root), "raise it with sysctl"})
	}
	for _, dir := range cgroups(root) {
		most, ok1 := readInt(root, dir+"/pids.max")
		used, ok2 := readInt(root, dir+"/pids.current")
		if ok1 && ok2 {
			limits = append(limits, limit{"the cgroup's pids.max", most, used, "raise it"})
		}
	}
	return limits
}

// allThreads is the number of threads in the system, the second number of the fourth field of loadavg.
func allThreads(root fsys) int64 {
	fields := strings.Fields(readString(root, "proc/loadavg"))
	if len(fields) < 4 {
		return 0
	}
	_, all, _ := strings.Cut(fields[3], "/")
	return parseInt(all)
}
