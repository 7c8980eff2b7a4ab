package osthread

import (
	"errors"
	"os"
	"runtime"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// onThread runs f on a thread of its own, which ends with it, and returns the thread's id.
func onThread(t *testing.T, f func()) (id int64) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread()
		if IsMain() {
			// A goroutine that ends on the main thread wedges it: hold it while another takes another thread.
			id = onThread(t, f)
			runtime.UnlockOSThread()
			return
		}
		id = ID()
		f()
	}()
	<-done
	return id
}

func TestThread(t *testing.T) {
	var name, nice string
	id := onThread(t, func() {
		require.NoError(t, SetName("magpie-threads-42"))
		require.NoError(t, SetNice(7))
		comm, err := os.ReadFile("/proc/thread-self/comm")
		require.NoError(t, err)
		name = strings.TrimSpace(string(comm))
		stat, err := os.ReadFile("/proc/thread-self/stat")
		require.NoError(t, err)
		nice = strings.Fields(string(stat))[18]
		Yield()
		require.NotEqual(t, int64(os.Getpid()), ID())
		require.False(t, Gone(ID()))
		_, _, err = ThreadSwitches(ID())
		require.NoError(t, err)
	})
	require.Equal(t, "gpie-threads-42", name, "the end of a long name is kept")
	require.Equal(t, "7", nice)

	deadline := time.Now().Add(30 * time.Second)
	for !Gone(id) {
		require.True(t, time.Now().Before(deadline), "the thread of a locked goroutine that ended is still there")
		time.Sleep(time.Millisecond)
	}
	_, _, err := ThreadSwitches(id)
	require.ErrorIs(t, err, os.ErrNotExist)
}

// TestSetNiceRefused gives the rights of root up, on a thread that is thrown away: the kernel keeps them by thread.
func TestSetNiceRefused(t *testing.T) {
	onThread(t, func() {
		if unix.Geteuid() == 0 {
			const nobody = 65534
			_, _, errno := unix.RawSyscall(unix.SYS_SETRESUID, nobody, nobody, nobody)
			require.Zero(t, errno)
		}
		require.NoError(t, SetNice(5))
		err := SetNice(1)
		require.True(t, errors.Is(err, unix.EACCES) || errors.Is(err, unix.EPERM), "%v", err)
	})
}

func TestUsage(t *testing.T) {
	before := ProcessCPU()
	for ProcessCPU() == before {
	}
	voluntary, _ := ContextSwitches()
	require.Positive(t, voluntary)
	require.Positive(t, PeakRSS())
	require.Positive(t, AvailableMemory())
	if err := ResetPeakRSS(); err != nil {
		require.ErrorIs(t, err, os.ErrPermission)
	}
}

func file(s string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(s)} }

func TestAvailableMemory(t *testing.T) {
	meminfo := file("MemTotal:       1000000 kB\nMemAvailable:    500000 kB\n")
	for _, c := range []struct {
		name string
		tree fstest.MapFS
		want int64
	}{
		{"no cgroup", fstest.MapFS{"proc/meminfo": meminfo}, 500000 << 10},
		{"cgroup without a limit", fstest.MapFS{
			"proc/meminfo":                   meminfo,
			"proc/self/cgroup":               file("0::/a\n"),
			"sys/fs/cgroup/a/memory.max":     file("max\n"),
			"sys/fs/cgroup/a/memory.current": file("1\n"),
		}, 500000 << 10},
		{"limit of the cgroup above", fstest.MapFS{
			"proc/meminfo":                     meminfo,
			"proc/self/cgroup":                 file("0::/a/b\n"),
			"sys/fs/cgroup/a/memory.max":       file("1000000\n"),
			"sys/fs/cgroup/a/memory.current":   file("400000\n"),
			"sys/fs/cgroup/a/memory.stat":      file("anon 1\ninactive_file 50000\n"),
			"sys/fs/cgroup/a/b/memory.max":     file("max\n"),
			"sys/fs/cgroup/a/b/memory.current": file("1\n"),
		}, 650000},
		{"version 1", fstest.MapFS{
			"proc/meminfo": meminfo,
			"sys/fs/cgroup/memory/memory.limit_in_bytes": file("2000000\n"),
			"sys/fs/cgroup/memory/memory.usage_in_bytes": file("500000\n"),
		}, 1500000},
		{"used up", fstest.MapFS{
			"proc/meminfo":                 meminfo,
			"proc/self/cgroup":             file("0::/\n"),
			"sys/fs/cgroup/memory.max":     file("1000\n"),
			"sys/fs/cgroup/memory.current": file("2000\n"),
		}, 1},
		{"nothing known", fstest.MapFS{}, 0},
	} {
		require.Equal(t, c.want, availableMemory(c.tree), c.name)
	}
}

func TestThreadLimits(t *testing.T) {
	tree := fstest.MapFS{
		"proc/self/status":             file("Name:\tx\nThreads:\t7\n"),
		"proc/sys/kernel/threads-max":  file("190000\n"),
		"proc/loadavg":                 file("0.1 0.2 0.3 2/345 678\n"),
		"proc/self/cgroup":             file("0::/a\n"),
		"sys/fs/cgroup/a/pids.max":     file("100\n"),
		"sys/fs/cgroup/a/pids.current": file("95\n"),
		"sys/fs/cgroup/pids.max":       file("max\n"),
	}
	limits := threadLimits(tree, 10000)
	var got []limit
	for _, l := range limits {
		l.remedy = ""
		got = append(got, l)
	}
	require.Equal(t, []limit{
		{"the Go runtime's limit", 10000, 7, ""},
		{"kernel.threads-max", 190000, 345, ""},
		{"pids.max of cgroup /sys/fs/cgroup/a", 100, 95, ""},
	}, got)
	require.NoError(t, checkRoom(limits, 5))
	require.ErrorContains(t, checkRoom(limits, 6), "pids.max of cgroup")
}
