package osthread

import (
	"os"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// onThread runs f on a thread of its own, which ends with f, and returns the thread's id. f stores its results in
// variables. It must not end the test itself, for it runs on another goroutine.
func onThread(f func()) (id int64) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread()
		if IsMain() {
			// A goroutine that ends on the main thread wedges it. Hold the main thread while f runs on another one.
			id = onThread(f)
			runtime.UnlockOSThread()
			return
		}
		id = ID()
		f()
	}()
	<-done
	return id
}

// awaitGone waits until the thread of a goroutine that has ended is gone.
func awaitGone(t *testing.T, id int64) {
	t.Helper()
	testkit.Until(t, "the thread of a locked goroutine that ended is gone", func() bool { return Gone(id) })
}

func TestID(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	require.EqualValues(t, unix.Gettid(), ID())
	require.Equal(t, ID(), ID())

	var inside, kernel int64
	other := onThread(func() { inside, kernel = ID(), int64(unix.Gettid()) })
	require.Equal(t, kernel, inside)
	require.Equal(t, inside, other)
	require.NotEqual(t, ID(), other, "two locked threads at the same time")
}

// atInit holds the results of calls in init, which runs on the main thread in every Go program.
var atInit struct{ isMain, gone bool }

func init() { atInit.isMain, atInit.gone = IsMain(), Gone(ID()) }

func TestIsMain(t *testing.T) {
	require.True(t, atInit.isMain, "init is on the main thread")
	require.False(t, atInit.gone)
	main := true
	onThread(func() { main = IsMain() })
	require.False(t, main, "onThread leaves the main thread")
}

func TestSetName(t *testing.T) {
	for name, want := range map[string]string{
		"magpie-1":          "magpie-1",
		"fifteen-bytes-7":   "fifteen-bytes-7",
		"magpie-threads-42": "gpie-threads-42", // the end is kept
		"":                  "",
	} {
		var err, readErr error
		var comm []byte
		onThread(func() {
			err = SetName(name)
			comm, readErr = os.ReadFile("/proc/thread-self/comm")
		})
		require.NoError(t, err)
		require.NoError(t, readErr)
		require.Equal(t, want, strings.TrimSuffix(string(comm), "\n"), "%q", name)
	}
}

// niceOf reads a thread's nice value, the 19th field. The second field is a name in parentheses, which may hold spaces.
func niceOf(thread string) string {
	stat, err := os.ReadFile("/proc/" + thread + "/stat")
	if err != nil {
		return err.Error()
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	return strings.Fields(rest)[19-3]
}

func TestSetNice(t *testing.T) {
	before := niceOf("self")
	var err error
	var nice string
	onThread(func() {
		err = SetNice(19)
		nice = niceOf("thread-self")
	})
	require.NoError(t, err)
	require.Equal(t, "19", nice)
	require.Equal(t, before, niceOf("self"), "the main thread keeps its own")
}

// TestSetNiceRefused gives up the rights of root on a thread of its own: the kernel keeps them by thread.
func TestSetNiceRefused(t *testing.T) {
	var errno syscall.Errno
	var up, down error
	onThread(func() {
		if unix.Geteuid() == 0 {
			const nobody = 65534
			// Not syscall.Setresuid, which would change every thread.
			if _, _, errno = syscall.RawSyscall(unix.SYS_SETRESUID, nobody, nobody, nobody); errno != 0 {
				return
			}
		}
		up, down = SetNice(19), SetNice(-5) // 19: the whole test may run at that
	})
	require.Zero(t, errno)
	require.NoError(t, up)
	// EACCES where RLIMIT_NICE forbids it, EPERM where the thread is another user's.
	require.ErrorIs(t, down, os.ErrPermission)
}

func TestGone(t *testing.T) {
	var inside bool
	id := onThread(func() {
		Yield()
		inside = Gone(ID())
	})
	require.False(t, inside)
	awaitGone(t, id)
	require.False(t, Gone(int64(os.Getpid())), "the main thread")

	require.True(t, Gone(foreign()), "a thread of another process is none of ours")
}

// A number of Self tells that its thread is gone where it is the ID.
func TestSelfGone(t *testing.T) {
	var tells, inside bool
	var self int64
	run := func() int64 {
		return onThread(func() { self, tells = Self(), Self() == ID(); inside = SelfGone(self) })
	}
	for _, fallback := range []bool{false, true} {
		if fallback {
			pretendNoFS(t)
		}
		awaitGone(t, run())
		require.False(t, inside)
		require.True(t, tells || !fallback)
		require.Equal(t, tells, SelfGone(self))
	}
}

// foreign is the id of a thread of another process: the parent's main thread or, where the parent has no id in the PID
// namespace of the test, an id that the kernel never gives.
func foreign() int64 {
	if parent := os.Getppid(); parent > 0 {
		return int64(parent)
	}
	return 1 << 28
}

func TestCPU(t *testing.T) {
	var used, before, sibling time.Duration
	var errs [3]error
	id := onThread(func() {
		me := ID()
		before, errs[0] = CPU(me)
		for used = before; used < before+5*time.Millisecond && errs[1] == nil; {
			used, errs[1] = CPU(me)
		}
		// Another thread reads it as well.
		onThread(func() { sibling, errs[2] = CPU(me) })
	})
	for _, err := range errs {
		require.NoError(t, err)
	}
	require.GreaterOrEqual(t, used, before+5*time.Millisecond)
	require.GreaterOrEqual(t, sibling, used)
	require.GreaterOrEqual(t, ProcessCPU(), 5*time.Millisecond)

	awaitGone(t, id)
	_, err := CPU(id)
	require.ErrorContains(t, err, "CPU clock of thread")
	_, err = CPU(foreign())
	require.Error(t, err, "a thread of another process")
	_, err = CPU(0)
	require.Error(t, err, "not the caller's")
}

// Self stays the same on one thread, and differs between live threads.
func TestSelf(t *testing.T) {
	const threads = 50
	for _, fallback := range []bool{false, true} {
		if fallback {
			pretendNoFS(t)
		}
		require.Len(t, numbersOf(t, threads, true, Self), threads)
	}
}

func BenchmarkSelf(b *testing.B) {
	for b.Loop() {
		Self()
	}
}
