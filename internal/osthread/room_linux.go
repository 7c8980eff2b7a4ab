//go:build !modelcheck

package osthread

import (
	"os"
	"runtime"
	"runtime/metrics"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

var claimed struct {
	mu sync.Mutex // held while room is looked for as well: two concurrent calls would each take the same room
	claim
	seen    snapshot
	plenty  plenty
	refusal refusal
}

// Claim claims room for n more threads with locked goroutines, in a process that is to have ps more Ps than now. An
// error names the first limit in the way, its value, the number in use, and a remedy.
//
// The Go runtime ends the process when it cannot start a thread. So Claim has to come before the start, and it leaves
// room for the threads that the runtime may start by itself. Claim sees a snapshot: other processes may take the room,
// and so may threads of the program for which it has claimed nothing. It knows the limits on threads and on the address
// space. At the memory limit of a cgroup the system refuses no thread: it ends a process. In a process that may open no
// more files, Claim goes by what the last call has read, and by how many threads the Go runtime has started since.
//
// Each of the threads calls Arrive when it exists and Unclaim at its end. ArrivePs says that the process has the Ps.
// Any thread.
func Claim(n, ps int) error {
	claimed.mu.Lock()
	defer claimed.mu.Unlock()
	return look(int64(n), int64(ps))
}

// look is Claim for a caller that has locked claimed.mu.
func look(n, ps int64) error {
	c := &claimed
	begin := time.Now()
	others := func(threads int64) int64 { return c.others(threads, runtime.GOMAXPROCS(0)+int(ps)) }
	limits, threads := currentLimits(machine, &c.seen, func(threads int64) int64 { return n + others(threads) })
	c.plenty = plenty{}
	if err := checkRoom(limits, n, others(threads)); err != nil {
		return err
	}
	c.add(n)
	c.ps += ps
	c.refusal.since = time.Time{}
	end := time.Now()
	c.plenty = plenty{
		until: end.Add(holds(end.Sub(begin))),
		n:     min(left(limits)-others(threads)-n, 1<<20)/plentyShare - plentyLeast,
	}
	return nil
}

// add claims n threads.
func (c *claim) add(n int64) {
	c.all += n
	c.coming += n
}

// What a look has found holds for a while, since to look again at once would cost much and mostly find the same. A look
// at RLIMIT_NPROC reads a file of each process of the machine, so the time is a multiple of what the look has cost.
// Arbitrary.
func holds(cost time.Duration) time.Duration { return max(20*time.Millisecond, 50*cost) }

// longRefusal is as long as a refusal holds, unless the look has cost much. Tasks in Blocking use a few percent of the
// processors. So a look that costs a millisecond adds some percent to that once a second, but not once in 200 ms.
const longRefusal = time.Second

// refuses is how long a refusal holds if there has been no room for the given time: so long again.
func refuses(cost, lasted time.Duration) time.Duration {
	return max(20*time.Millisecond, 200*cost, min(lasted, longRefusal))
}

// plenty is room that is far from the limits. Others may take from it as well, so that little of it counts.
type plenty struct {
	until time.Time
	n     int64 // threads
}

// How much of the room counts as plenty: a share of it, less some threads. Arbitrary.
const (
	plentyShare = 4
	plentyLeast = 16
)

// Arrive notes that a thread exists for which room was claimed. Any thread.
func Arrive() {
	claimed.mu.Lock()
	defer claimed.mu.Unlock()
	claimed.coming--
}

// ArrivePs notes that the process has ps of the Ps that were claimed. Any thread.
func ArrivePs(ps int) {
	claimed.mu.Lock()
	defer claimed.mu.Unlock()
	claimed.ps -= int64(ps)
}

// ComingPs returns how many Ps were claimed and have not arrived. Any thread.
func ComingPs() int {
	claimed.mu.Lock()
	defer claimed.mu.Unlock()
	return int(claimed.ps)
}

// Unclaim gives back the claim of a thread that has arrived and is about to end. Any thread.
func Unclaim() {
	claimed.mu.Lock()
	defer claimed.mu.Unlock()
	claimed.all--
}

// ClaimAnyway is Claim of a thread that the process cannot do without: it takes the place of one that is about to end.
// Any thread.
func ClaimAnyway() {
	claimed.mu.Lock()
	defer claimed.mu.Unlock()
	claimed.add(1)
}

// A refusal says that there is no room for spares.
type refusal struct {
	since time.Time // no look has found room; zero: the last one has
	until time.Time
	tell  map[any]func() // to call when the refusal is over; a timer is set while there are any
}

// ClaimSpare is Claim(1, 0) for a thread that the process can do without. It reports whether there is room. Any thread.
func ClaimSpare() bool {
	claimed.mu.Lock()
	defer claimed.mu.Unlock()
	p, r := &claimed.plenty, &claimed.refusal
	begin := time.Now()
	if p.n > 0 && begin.Before(p.until) {
		p.n--
		claimed.add(1)
		return true
	}
	if begin.Before(r.until) {
		return false
	}
	if look(1, 0) == nil {
		return true
	}
	r.renew(begin, time.Now())
	return false
}

// renew notes that a look has found no room. A refusal that was over for long is not the same one.
func (r *refusal) renew(begin, end time.Time) {
	if r.since.IsZero() || begin.Sub(r.until) > longRefusal {
		r.since = begin
	}
	r.until = end.Add(refuses(end.Sub(begin), end.Sub(r.since)))
}

// AfterRefusal arranges that again is called when a refusal of ClaimSpare is over, on a goroutine of its own. Of
// several calls with the same key one is. The caller has noted the refusal: again may come at once. Any thread.
func AfterRefusal(key any, again func()) {
	claimed.mu.Lock()
	defer claimed.mu.Unlock()
	r := &claimed.refusal
	if r.tell == nil {
		r.tell = make(map[any]func())
	}
	if len(r.tell) == 0 {
		time.AfterFunc(time.Until(r.until), r.tellRefused)
	}
	r.tell[key] = again
}

// tellRefused tells those that were refused that the refusal is over.
func (r *refusal) tellRefused() {
	claimed.mu.Lock()
	tell := r.tell
	r.tell = nil
	claimed.mu.Unlock()
	for _, again := range tell {
		again()
	}
}

// currentLimits reads the limits that bind the process, and the number of its threads: of several counts, before and
// after, the one that leaves most to be started. needed returns how many more threads there are to be if there are so
// many now, fewer if there are more. If a file is refused, seen has what the last call has found, if any has.
func currentLimits(root fsys, seen *snapshot, needed func(threads int64) int64) (limits []limit, threads int64) {
	own := goThreads()
	files := &attempt{fsys: root}
	before := threadsNow(files)
	limits = threadLimits(files, maximum.ask)
	few := needed(min(before, limits[0].used))
	limits = append(limits, idLimit(files, few)...)
	var r unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NPROC, &r); err == nil && r.Cur < 1<<62 {
		limits = append(limits, userLimit(files, int64(r.Cur), unix.Getuid(), few)...)
	}
	if err := unix.Getrlimit(unix.RLIMIT_AS, &r); err == nil && r.Cur < 1<<62 {
		limits = append(limits, spaceLimit(files, int64(r.Cur), before)...)
	}
	threads = min(before, limits[0].used, threadsNow(files))
	switch {
	case !files.refused:
		*seen = snapshot{limits, few, threads, own}
	case seen.limits != nil:
		return seen.later(own)
	}
	return limits, threads
}

// A snapshot is what a call of currentLimits has found to which no file was refused.
type snapshot struct {
	limits  []limit
	few     int64 // some of the counts end where there is no room for so many
	threads int64
	own     int64 // those of the Go runtime, before
}

// later returns what holds when the Go runtime has own threads, as far as that is known. Where there was no room for
// few, it is not known for how many there was, and later leaves none.
func (s *snapshot) later(own int64) (limits []limit, threads int64) {
	limits = slices.Clone(s.limits)
	for i := range limits {
		l := &limits[i]
		if l.used > l.max-s.few {
			l.used = max(l.used, l.max)
		}
		l.used += own - s.own
	}
	return limits, s.threads + own - s.own
}

// threadsNow returns the number of threads of the process. Where no file tells, those that only the C library knows do
// not count.
func threadsNow(root fsys) int64 {
	if n := fieldOf(readString(root, "proc/self/status"), "Threads"); n > 0 {
		return n
	}
	return goThreads()
}

// goThreads returns the number of threads that the Go runtime has started. It reads no file.
func goThreads() int64 {
	s := [1]metrics.Sample{{Name: "/sched/threads/total:threads"}}
	metrics.Read(s[:])
	if s[0].Value.Kind() != metrics.KindUint64 {
		return 1 // a runtime that does not tell: the caller's
	}
	return int64(s[0].Value.Uint64())
}

// threadLimits reads the limits that bind every user. The runtime's limit comes from runtimeMax, the others from files.
func threadLimits(root fsys, runtimeMax func(threads int64) int64) []limit {
	threads := threadsNow(root)
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

// keptIDs is how many of the first IDs the kernel does not give again when it has given the last one.
const keptIDs = 300

// idLimit returns the limit on IDs, of which each thread has one. Since Linux 6.14 each PID namespace has a limit of
// its own. There the threads of the system that leave no room may be in other namespaces, so idLimit counts those in
// the process's, as userLimit does.
func idLimit(root fsys, needed int64) []limit {
	most, ok := readInt(root, "proc/sys/kernel/pid_max")
	if !ok {
		return nil
	}
	most -= keptIDs
	used := allThreads(root)
	if used > most-needed && hasOwnIDLimits(root) {
		used = min(used, threadsOf(root, everyUser, most-needed+1))
	}
	return []limit{{"kernel.pid_max less 300", most, used, "raise it with sysctl"}}
}

// hasOwnIDLimits reports whether each PID namespace has a limit on IDs.
func hasOwnIDLimits(root fsys) bool {
	major, rest, _ := strings.Cut(readString(root, "proc/sys/kernel/osrelease"), ".")
	minor, _, _ := strings.Cut(rest, ".")
	v, _ := strconv.Atoi(major)
	sub, _ := strconv.Atoi(minor)
	return v > 6 || v == 6 && sub >= 14
}

// userLimit returns RLIMIT_NPROC if it binds the process. The kernel counts the threads of the real user in all
// processes. It exempts root and processes that may override resource limits, but in no user namespace, as that of a
// rootless container. If there is no room for needed more threads, userLimit counts only as many as it takes to know.
func userLimit(root fsys, most int64, uid int, needed int64) []limit {
	if (uid == 0 || mayExceedLimits(root)) && !inUserNamespace(root) {
		return nil
	}
	used := threadsOf(root, int64(uid), most-needed+1)
	return []limit{{"the user's limit RLIMIT_NPROC", most, used, "raise it with ulimit -u"}}
}

// How much address space counts as used by what comes later, and by each thread. The C library, where the process has
// it, reserves a stack of RLIMIT_STACK, or of a size of its own if that is infinite, and an arena for what the thread
// allocates, of which glibc makes up to eight for each CPU. Go's own threads take 16 KiB of the heap.
const (
	spaceForOthers = 128 << 20
	usualStack     = 8 << 20
	leastStack     = 64 << 10
	arena          = 64 << 20
)

// spaceLimit returns what RLIMIT_AS, of so many bytes, allows. The process has the given number of threads.
func spaceLimit(root fsys, most, threads int64) []limit {
	stack := int64(leastStack)
	if hasCLibrary {
		stack = usualStack
		var r unix.Rlimit
		if err := unix.Getrlimit(unix.RLIMIT_STACK, &r); err == nil && r.Cur < 1<<62 {
			stack = int64(r.Cur)
		}
		stack += arena
	}
	first, _, _ := strings.Cut(readString(root, "proc/self/statm"), " ")
	pages, err := strconv.ParseInt(first, 10, 64)
	if err != nil {
		return nil
	}
	left := max(0, most-pages*int64(os.Getpagesize())-spaceForOthers)
	return []limit{{"the limit RLIMIT_AS on address space", threads + left/stack, threads, "raise it with ulimit -v"}}
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

// inUserNamespace reports whether the process is in another user namespace than the initial one. That one has one line
// for all users. A kernel without namespaces has no such file.
func inUserNamespace(root fsys) bool {
	users := strings.Fields(readString(root, "proc/self/uid_map"))
	return len(users) > 0 && !slices.Equal(users, []string{"0", "0", "4294967295"})
}

const everyUser = -1

// threadsOf counts the threads of a user's processes, or everyUser's, until it has counted enough: first those of this
// process, of the same user. A process that ends meanwhile, or is hidden, counts nothing.
func threadsOf(root fsys, uid, enough int64) int64 {
	self, n := fieldOf(readString(root, "proc/self/status"), "Pid"), threadsNow(root)
	if n >= enough {
		return n
	}
	processes, _ := root.names("proc")
	for _, name := range processes {
		if name[0] < '0' || name[0] > '9' {
			continue
		}
		status := readString(root, "proc/"+name+"/status")
		// The first number of Uid is the real user, by which the kernel counts.
		if (uid == everyUser || fieldOf(status, "Uid") == uid) && fieldOf(status, "Pid") != self {
			if n += fieldOf(status, "Threads"); n >= enough {
				break
			}
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
