//go:build !modelcheck

package osthread

import (
	"io/fs"
	"os"
	"path"
	"runtime"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

var claimed struct {
	mu sync.Mutex // also held while room is looked for: of two that look at once each would take what there is
	claim
}

// Claim claims room for n more threads with locked goroutines, in a process that is to have ps more Ps than now: an
// error names the first limit in the way, its value, what is in use, and what to do. The Go runtime ends the process
// when it cannot start a thread, so this has to be asked beforehand, and the threads that the runtime may start by
// itself have to fit too. It is a snapshot: other processes may take what was there, and so may the program, which
// Claim does not know of.
//
// Each of the threads is to call Arrive, when it exists, and Unclaim at its end. Any thread.
func Claim(n, ps int) error {
	claimed.mu.Lock()
	defer claimed.mu.Unlock()
	root := os.DirFS("/")
	limits := threadLimits(root, maximum.ask)
	var r unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NPROC, &r); err == nil && r.Cur < 1<<62 {
		limits = append(limits, userLimit(root, int64(r.Cur), unix.Getuid())...)
	}
	threads := limits[0].used
	if err := checkRoom(limits, int64(n), claimed.others(threads, runtime.GOMAXPROCS(0)+ps)); err != nil {
		return err
	}
	claimed.all += int64(n)
	claimed.coming += int64(n)
	return nil
}

// Arrive says that a thread exists for which room was claimed.
func Arrive() {
	claimed.mu.Lock()
	defer claimed.mu.Unlock()
	claimed.coming--
}

// Unclaim takes the claim of a thread back that has arrived and is about to end.
func Unclaim() {
	claimed.mu.Lock()
	defer claimed.mu.Unlock()
	claimed.all--
}

// threadLimits reads what files tell of limits that bind everybody. The runtime's limit is given, not a file.
func threadLimits(root fsys, runtimeMax func(threads int64) int64) []limit {
	status := readFields(root, "proc/self/status")
	threads := status["Threads"]
	limits := []limit{{"the Go runtime's limit", runtimeMax(threads), threads, "raise it with debug.SetMaxThreads"}}
	if most, ok := readInt(root, "proc/sys/kernel/threads-max"); ok {
		limits = append(limits, limit{"kernel.threads-max", most, allThreads(root), "raise it with sysctl"})
	}
	for _, dir := range append(cgroups(root, ""), cgroups(root, "pids")...) {
		most, ok1 := readInt(root, dir+"/pids.max")
		used, ok2 := readInt(root, dir+"/pids.current")
		if ok1 && ok2 {
			limits = append(limits, limit{"pids.max of cgroup /" + dir, most, used, "raise it"})
		}
	}
	return limits
}

// userLimit is RLIMIT_NPROC, where it binds the process. It counts the threads of the real user in all processes, and
// exempts root and who may override resource limits.
func userLimit(root fsys, most int64, uid int) []limit {
	if uid == 0 || mayExceedLimits(root) {
		return nil
	}
	return []limit{{"the user's limit RLIMIT_NPROC", most, threadsOf(root, int64(uid)), "raise it with ulimit -u"}}
}

// mayExceedLimits reports whether the process has one of the two capabilities that the kernel accepts when it forks
// beyond RLIMIT_NPROC.
func mayExceedLimits(root fsys) bool {
	const capSysAdmin, capSysResource = 21, 24
	for line := range strings.Lines(readString(root, "proc/self/status")) {
		if hex, ok := strings.CutPrefix(line, "CapEff:"); ok {
			caps, err := strconv.ParseUint(strings.TrimSpace(hex), 16, 64)
			return err == nil && caps&(1<<capSysAdmin|1<<capSysResource) != 0
		}
	}
	return false
}

// threadsOf counts the threads of a user's processes. Processes that end meanwhile, or are hidden, count nothing.
func threadsOf(root fsys, uid int64) (n int64) {
	dirs, _ := fs.Glob(root, "proc/[0-9]*") // it fails for a bad pattern only
	for _, dir := range dirs {
		// The first number of Uid is the real one, the one that the kernel counts by.
		if status := readFields(root, path.Join(dir, "status")); status["Threads"] > 0 && status["Uid"] == uid {
			n += status["Threads"]
		}
	}
	return n
}

// allThreads is the number of threads in the system, the second number of the fourth field of loadavg.
func allThreads(root fsys) int64 {
	fields := strings.Fields(readString(root, "proc/loadavg"))
	if len(fields) < 4 {
		return 0
	}
	_, all, _ := strings.Cut(fields[3], "/")
	n, err := strconv.ParseInt(all, 10, 64)
	if err != nil {
		return 0
	}
	return n
}
