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
	mu sync.Mutex // held while room is looked for as well: two concurrent calls would each take the same room
	claim
}

// Claim claims room for n more threads with locked goroutines, in a process that is to have ps more Ps than now. An
// error names the first limit in the way, its value, the number in use, and a remedy.
//
// The Go runtime ends the process when it cannot start a thread. So Claim has to come before the start, and it leaves
// room for the threads that the runtime may start by itself. Claim sees a snapshot: other processes may take the room,
// and so may threads of the program for which it has claimed nothing.
//
// Each of the threads calls Arrive when it exists and Unclaim at its end. Any thread.
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

// Arrive notes that a thread exists for which room was claimed. Any thread.
func Arrive() {
	claimed.mu.Lock()
	defer claimed.mu.Unlock()
	claimed.coming--
}

// Unclaim gives back the claim of a thread that has arrived and is about to end. Any thread.
func Unclaim() {
	claimed.mu.Lock()
	defer claimed.mu.Unlock()
	claimed.all--
}

// threadLimits reads the limits that bind every user. The runtime's limit comes from runtimeMax, the others from files.
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

// userLimit returns RLIMIT_NPROC if it binds the process. The kernel counts the threads of the real user in all
// processes. It exempts root and processes that may override resource limits.
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

// threadsOf counts the threads of a user's processes. A process that ends meanwhile, or is hidden, counts nothing.
func threadsOf(root fsys, uid int64) (n int64) {
	dirs, _ := fs.Glob(root, "proc/[0-9]*") // Glob fails for a bad pattern only
	for _, dir := range dirs {
		// The first number of Uid is the real user, by which the kernel counts.
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
