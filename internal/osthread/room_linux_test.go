//go:build !modelcheck

package osthread

import (
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

func TestThreadLimits(t *testing.T) {
	root := tree(map[string]string{
		"proc/self/status":                  "Name:\tx\nThreads:\t7\n",
		"proc/sys/kernel/threads-max":       "190000\n",
		"proc/loadavg":                      "0.1 0.2 0.3 2/345 678\n",
		"proc/self/cgroup":                  "8:pids:/p\n0::/a/b\n",
		"sys/fs/cgroup/a/b/pids.max":        "max\n",
		"sys/fs/cgroup/a/b/pids.current":    "95\n",
		"sys/fs/cgroup/a/pids.max":          "100\n",
		"sys/fs/cgroup/a/pids.current":      "96\n",
		"sys/fs/cgroup/pids/p/pids.max":     "50\n",
		"sys/fs/cgroup/pids/p/pids.current": "20\n",
	})
	limits := threadLimits(root, func(int64) int64 { return 10000 })
	require.Empty(t, cmp.Diff([]limit{
		{"the Go runtime's limit", 10000, 7, "raise it with debug.SetMaxThreads"},
		{"kernel.threads-max", 190000, 345, "raise it with sysctl"},
		{"pids.max of cgroup /sys/fs/cgroup/a", 100, 96, "raise it"},
		{"pids.max of cgroup /sys/fs/cgroup/pids/p", 50, 20, "raise it"},
	}, limits, cmp.AllowUnexported(limit{})))
	require.NoError(t, checkRoom(limits, 4, 0))
	require.EqualError(t, checkRoom(limits, 5, 0), "5 more threads, and 0 that the process may start besides, "+
		"do not fit pids.max of cgroup /sys/fs/cgroup/a: 100 allowed, 96 or more in use: ask for fewer, or raise it")
}

// TestThreadLimitsUnknown has no files: an unknown limit forbids nothing, and the runtime's limit stands.
func TestThreadLimitsUnknown(t *testing.T) {
	limits := threadLimits(tree(nil), func(threads int64) int64 { return threads + 10 })
	require.Positive(t, limits[0].used, "the runtime knows its threads")
	require.NoError(t, checkRoom(limits, 10, 0))
	require.ErrorContains(t, checkRoom(limits, 11, 0), "the Go runtime's limit")
}

// A barred fsys refuses one file or folder, or every one, as if too many were open.
type barred struct {
	fsys
	name string // "": every one
}

func (b barred) ReadFile(name string) ([]byte, error) {
	if b.name == "" || b.name == name {
		return nil, unix.EMFILE
	}
	return b.fsys.ReadFile(name)
}

func (b barred) names(dir string) ([]string, error) {
	if b.name == "" || b.name == dir {
		return nil, unix.ENFILE
	}
	return b.fsys.names(dir)
}

// TestFilesRefused: while too many files are open, what the last look has read stands, and the threads that the runtime
// has started since count. A file that does not exist is no obstacle. Before the first look only those threads count.
func TestFilesRefused(t *testing.T) {
	root := tree(map[string]string{
		"proc/self/status":                "Pid:\t11\nThreads:\t7\n",
		"proc/sys/kernel/threads-max":     "1000\n",
		"proc/loadavg":                    "0.1 0.2 0.3 2/900 678\n",
		"proc/self/cgroup":                "0::/a\n",
		"sys/fs/cgroup/a/pids.max":        "100\n",
		"sys/fs/cgroup/a/pids.current":    "96\n",
		"sys/fs/cgroup/pids/pids.max":     "max\n",
		"sys/fs/cgroup/pids/pids.current": "50\n",
	})
	needed := func(int64) int64 { return 1 }
	var seen snapshot
	limits, threads := currentLimits(barred{root, ""}, &seen, needed)
	require.Positive(t, threads)
	require.Positive(t, limits[0].used)
	require.Zero(t, seen)

	limits, threads = currentLimits(root, &seen, needed)
	require.EqualValues(t, 7, threads)
	const later = 1000
	seen.own -= later // as if there were as many more
	for _, name := range []string{
		"", "proc/self/status", "proc/sys/kernel/threads-max", "proc/loadavg", "sys/fs/cgroup/a/pids.current",
	} {
		got, all := currentLimits(barred{root, name}, &seen, needed)
		require.GreaterOrEqual(t, all, threads+later/2, name) // some may have ended
		require.Len(t, got, len(limits), name)
		for i, l := range limits {
			require.Equal(t, l.name, got[i].name)
			require.Equal(t, l.max, got[i].max, l.name)
			require.Equal(t, l.used+all-threads, got[i].used, l.name)
		}
	}

	many := &attempt{fsys: barred{root, "proc"}}
	threadsOf(many, 1000, 100)
	require.True(t, many.refused, "the processes of a user cannot be counted")
}

func TestUserLimit(t *testing.T) {
	files := map[string]string{
		"proc/self/status": "Pid:\t11\nThreads:\t4\nCapEff:\t0000000000000000\n",
		"proc/10/status":   "Pid:\t10\nUid:\t1000\t1000\t1000\t1000\nThreads:\t3\n",
		"proc/11/status":   "Pid:\t11\nUid:\t1000\t0\t0\t0\nThreads:\t4\n", // set-uid: the real user counts
		"proc/12/status":   "Pid:\t12\nUid:\t0\t1000\t1000\t1000\nThreads:\t50\n",
		"proc/13/status":   "Pid:\t13\nUid:\t1001\t1001\t1001\t1001\nThreads:\t60\n",
		"proc/14/status":   "", // it ended meanwhile
		"proc/15x/comm":    "not a process\n",
		"proc/16/status":   "Pid:\t16\nUid:\t1000\t1000\t1000\t1000\nThreads:\t5\n",
	}
	for needed, used := range map[int64]int64{
		0: 12, 8: 12, 9: 12, // it takes all to know that there is room, or just none
		13: 12, 14: 7, 16: 7, // not the last one
		17: 4, 20: 4, 1000: 4, // the process itself
	} {
		want := []limit{{"the user's limit RLIMIT_NPROC", 20, used, "raise it with ulimit -u"}}
		require.Equal(t, want, userLimit(tree(files), 20, 1000, needed), needed)
		require.Equal(t, needed <= 8, checkRoom(want, needed, 0) == nil, needed)
	}
	require.Empty(t, userLimit(tree(files), 20, 0, 0), "root is exempt")

	for caps, bound := range map[string]bool{
		"0000000001000000": false, // CAP_SYS_RESOURCE
		"0000000000200000": false, // CAP_SYS_ADMIN
		"000001ffffffffff": false,
		"00000000fe000000": true, // those above
		"rubbish":          true,
	} {
		files["proc/self/status"] = "Name:\tx\nCapEff:\t" + caps + "\n"
		require.Equal(t, bound, len(userLimit(tree(files), 20, 1000, 0)) == 1, caps)
	}

	files["proc/self/status"] = "Name:\tx\nThreads:\t4\nCapEff:\t000001ffffffffff\n"
	for users, bound := range map[string]bool{
		"         0          0 4294967295\n":                                   false,
		"         0       1000          1\n":                                   true,
		"         0       1000          1\n         1     100000      65536\n": true,
		"         0          0      65536\n":                                   true,
		"         0          0          1\n         1          1 4294967294\n": true, // all users, but in a namespace
	} {
		files["proc/self/uid_map"] = users
		for _, uid := range []int{0, 1000} {
			require.Equal(t, bound, len(userLimit(tree(files), 20, uid, 0)) == 1, "%d in %s", uid, users)
		}
	}
}

// The threads of the system count against the limit on IDs. If they leave no room, and each PID namespace has a limit
// of its own, those of the processes that the process sees count: the others are in other namespaces.
func TestIDLimit(t *testing.T) {
	files := map[string]string{
		"proc/sys/kernel/pid_max":   "1000\n",
		"proc/sys/kernel/osrelease": "6.14.0-generic\n",
		"proc/loadavg":              "0.1 0.2 0.3 2/600 678\n",
		"proc/self/status":          "Pid:\t11\nThreads:\t4\n",
		"proc/11/status":            "Pid:\t11\nUid:\t1000\t1000\t1000\t1000\nThreads:\t4\n",
		"proc/12/status":            "Pid:\t12\nUid:\t0\t0\t0\t0\nThreads:\t50\n",
	}
	for needed, used := range map[int64]int64{1: 600, 100: 600, 101: 54, 646: 54, 647: 54} {
		limits := idLimit(tree(files), needed)
		require.Equal(t, []limit{{"kernel.pid_max less 300", 700, used, "raise it with sysctl"}}, limits, needed)
		require.Equal(t, needed <= 646, checkRoom(limits, needed, 0) == nil, needed)
	}
	files["proc/12/status"] = "Pid:\t12\nUid:\t0\t0\t0\t0\nThreads:\t5000\n"
	require.EqualValues(t, 600, idLimit(tree(files), 101)[0].used)
	files["proc/12/status"] = ""
	for release, own := range map[string]bool{
		"6.13.9": false, "5.15.0-91-generic": false, "": false, "6.14.2": true, "6.18.44-x": true, "10.1": true,
	} {
		files["proc/sys/kernel/osrelease"] = release + "\n"
		require.Equal(t, own, idLimit(tree(files), 101)[0].used == 4, release)
	}
	require.Empty(t, idLimit(tree(nil), 1))
}

func TestSpaceLimit(t *testing.T) {
	pages := tree(map[string]string{"proc/self/statm": "1000 500 200 10 0 300 0\n"})
	used := int64(1000 * os.Getpagesize())
	for _, tt := range []struct {
		free    int64
		atLeast int64
		atMost  int64
	}{
		{-1 << 20, 7, 7}, // something has raised the use above the limit
		{0, 7, 7},
		{spaceForOthers + leastStack - 1, 7, 7},
		{spaceForOthers + 10*arena, 7, 7 + 10*arena/leastStack},
		{1 << 50, 1000, 1 << 50},
	} {
		got := spaceLimit(pages, used+tt.free, 7)
		require.Len(t, got, 1)
		require.GreaterOrEqual(t, got[0].max, tt.atLeast, tt)
		require.LessOrEqual(t, got[0].max, tt.atMost, tt)
		require.EqualValues(t, 7, got[0].used)
	}
	require.Empty(t, spaceLimit(tree(nil), 1<<40, 7), "the use is unknown")
}

// TestRoomRefused asks for more than the runtime's limit: the remedy that the error names must help.
func TestRoomRefused(t *testing.T) {
	before := debug.SetMaxThreads(500)
	defer debug.SetMaxThreads(before)
	require.ErrorContains(t, Claim(500, 0), "the Go runtime's limit: 500 allowed")
	debug.SetMaxThreads(before)
	err := Claim(500, 0)
	if err != nil { // another limit of this machine
		require.NotContains(t, err.Error(), "the Go runtime's limit")
	}
}

// TestRefusalIsKept: a refused spare looks at the limits, and as long as the refusal holds no other one does. Looks
// take a two hundredth of the time at most, so that Blocking at a limit costs about as much as without spares.
func TestRefusalIsKept(t *testing.T) {
	before := debug.SetMaxThreads(500)
	defer debug.SetMaxThreads(before)
	claimed.mu.Lock()
	claimed.plenty, claimed.refusal.until = plenty{}, time.Time{}
	claimed.add(500) // no room is left
	claimed.mu.Unlock()
	defer func() {
		claimed.mu.Lock()
		defer claimed.mu.Unlock()
		claimed.add(-500)
		claimed.refusal = refusal{}
	}()
	require.False(t, ClaimSpare())
	claimed.mu.Lock()
	require.False(t, claimed.refusal.until.IsZero(), "the refusal is forgotten")
	long := time.Now().Add(time.Hour)
	claimed.refusal.until = long
	claimed.mu.Unlock()
	require.Zero(t, testing.AllocsPerRun(1000, func() { // a look reads files, for which it allocates
		if ClaimSpare() {
			t.Error("a spare finds room during a refusal")
		}
	}))
	require.Equal(t, long, claimed.refusal.until)
	for _, cost := range []time.Duration{0, time.Microsecond, time.Millisecond, time.Second} {
		require.GreaterOrEqual(t, refuses(cost, 0), 200*cost)
	}
}

// TestRefusalsGrow: as long as there is no room, each refusal holds longer than the one before, up to a second. The
// first one after there was room, or after a pause, is short.
func TestRefusalsGrow(t *testing.T) {
	const look = 50 * time.Microsecond
	var r refusal
	now := time.Now()
	next := func(pause time.Duration) time.Duration {
		begin := now.Add(pause)
		now = begin.Add(look)
		r.renew(begin, now)
		held := r.until.Sub(now)
		now = r.until
		return held
	}
	grow := func(pause time.Duration) {
		t.Helper()
		last := next(pause)
		require.Equal(t, 20*time.Millisecond, last)
		for range 6 {
			held := next(time.Millisecond)
			require.Greater(t, held, last)
			last = held
		}
		require.Equal(t, longRefusal, next(0))
		require.Equal(t, longRefusal, next(0))
	}
	grow(0)
	grow(2 * longRefusal)
	r.since = time.Time{} // a look has found room
	grow(0)

	claimed.refusal.since = now
	require.NoError(t, Claim(1, 0))
	require.Zero(t, claimed.refusal.since)
	Arrive()
	Unclaim()
}

// TestCountsCutShort: a count that ended, because there was no room for many threads, leaves none for few while no file
// can be read.
func TestCountsCutShort(t *testing.T) {
	files := map[string]string{
		"proc/sys/kernel/pid_max":   "1000\n",
		"proc/sys/kernel/osrelease": "6.14.0\n",
		"proc/loadavg":              "0.1 0.2 0.3 2/5000 678\n",
		"proc/self/status":          "Pid:\t11\nThreads:\t4\n",
	}
	for i := range 70 { // 704 of 700
		files[fmt.Sprintf("proc/%d/status", 100+i)] = fmt.Sprintf("Pid:\t%d\nThreads:\t10\n", 100+i)
	}
	root := tree(files)
	var seen snapshot
	for _, tt := range []struct {
		root   fsys
		needed int64
	}{{root, 600}, {barred{root, ""}, 600}, {barred{root, ""}, 1}, {root, 1}, {barred{root, ""}, 1}} {
		limits, _ := currentLimits(tt.root, &seen, func(int64) int64 { return tt.needed })
		i := slices.IndexFunc(limits, func(l limit) bool { return l.name == "kernel.pid_max less 300" })
		require.Less(t, limits[i].max-limits[i].used, tt.needed)
	}
}
