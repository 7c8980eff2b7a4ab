package executor_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/internal/fixture"
	"github.com/magpie-go/magpie/internal/cgroup"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/magpie-go/magpie/internal/testkit/guests"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

const childVar = "MAGPIE_TEST_CHILD"

// inChild runs a test of this package once more, in a process of its own that is told what to do, and returns what it
// prints. In the child it returns told.
func inChild(t *testing.T, tell string) (told, out string) {
	t.Helper()
	return inChildAs(t, tell, nil)
}

// inChildAs is inChild with a child that is started in the given way.
func inChildAs(t *testing.T, tell string, how *syscall.SysProcAttr) (told, out string) {
	t.Helper()
	if told = os.Getenv(childVar); told != "" {
		return told, ""
	}
	cmd := exec.CommandContext(t.Context(), "/proc/self/exe", "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Env = append(os.Environ(), childVar+"="+tell, "GOMAXPROCS=2")
	cmd.SysProcAttr = how
	printed, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s: %s", tell, printed)
	return "", string(printed)
}

const plenty = 40 // of room, for what runNearTheLimit starts

// Near the user's limit on threads an executor starts fewer spares, or New refuses; the Go runtime, which needs threads
// of its own, never finds the limit in its way: it would end the process.
func TestThreadLimit(t *testing.T) {
	if told := os.Getenv(childVar); told != "" {
		var room int
		_, err := fmt.Sscan(told, &room)
		require.NoError(t, err)
		beNobody(t)
		runNearTheLimit(t, room)
		return
	}
	refused, accepted, spares := 0, plenty, make(map[string]bool)
	rooms := []int{0, 14, 16, 18, 20, plenty}
	if testkit.Quick() {
		rooms = []int{0, 14, 18, plenty}
	}
	for _, room := range rooms {
		_, out := inChild(t, fmt.Sprint(room))
		switch _, after, ok := strings.Cut(out, "spares: "); {
		case strings.Contains(out, "refused"):
			refused++
			require.LessOrEqual(t, room, accepted, "refused with more room")
		default:
			require.True(t, ok, out)
			accepted = min(accepted, room)
			n, _, _ := strings.Cut(after, " ")
			spares[n] = true
		}
	}
	require.Positive(t, refused, "New has accepted limits that are full")
	require.Greater(t, len(spares), 1, "with less room there are fewer spares")
	require.Contains(t, spares, "12", "with room for all there are all")
}

// The root of a user namespace, as in a rootless container, is an ordinary user to the system, with all its
// capabilities: the user's limit on threads holds.
func TestThreadLimitOfNamespace(t *testing.T) {
	if os.Getenv(childVar) != "" {
		require.Zero(t, os.Getuid())
		runNearTheLimit(t, 0)
		return
	}
	how := asRootOfNamespace(t, 0)
	out := ""
	for range 5 { // other threads of the user's may end meanwhile, and leave room
		if _, out = inChildAs(t, "root", how); strings.Contains(out, "refused") {
			return
		}
	}
	t.Fatalf("New has accepted a limit that is full: %s", out)
}

// A PID namespace may have a limit on IDs, of which each thread needs one. New refuses more workers than that.
func TestThreadLimitOfIDs(t *testing.T) {
	if os.Getenv(childVar) != "" {
		limitIDs()
		return
	}
	_, out := inChildAs(t, "limit", asRootOfNamespace(t, unix.CLONE_NEWPID|unix.CLONE_NEWNS))
	if _, why, skip := strings.Cut(out, "no limit: "); skip {
		t.Skip("the system refuses a limit: ", why)
	}
	require.Contains(t, out, "refused: ")
	require.Contains(t, out, "kernel.pid_max")
	require.Contains(t, out, "accepted")
}

// limitIDs is for the first process of a PID namespace, before it has many threads.
func limitIDs() {
	err := unix.Mount("none", "/", "", unix.MS_REC|unix.MS_PRIVATE, "")
	if err == nil {
		err = unix.Mount("proc", "/proc", "proc", 0, "") // of the namespace
	}
	if err == nil {
		err = os.WriteFile("/proc/sys/kernel/pid_max", []byte("400"), 0) // the namespace's; of no other is it root
	}
	if err != nil {
		fmt.Println("no limit:", err)
		return
	}
	for _, workers := range []int{500, 2} {
		ex, err := executor.New(executor.Config{Workers: workers})
		if err != nil {
			fmt.Println("refused:", err)
			continue
		}
		fmt.Println("accepted", workers, ex.Close())
	}
}

// asRootOfNamespace starts a child as the root of a user namespace of its own, and in the other new namespaces that
// flags say. The test is skipped where the system refuses that.
func asRootOfNamespace(t *testing.T, flags uintptr) *syscall.SysProcAttr {
	t.Helper()
	user, group := os.Getuid(), os.Getgid()
	if user == 0 { // for which the limit does not hold
		user = 1_000_000_000 + os.Getpid()
		group = user
	}
	how := &syscall.SysProcAttr{
		Cloneflags:  unix.CLONE_NEWUSER | flags,
		UidMappings: []syscall.SysProcIDMap{{HostID: user, Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{HostID: group, Size: 1}},
		Credential:  &syscall.Credential{NoSetGroups: true},
	}
	try := exec.CommandContext(t.Context(), "/proc/self/exe", "-test.run=^$")
	try.SysProcAttr = how
	if out, err := try.CombinedOutput(); err != nil {
		t.Skipf("the system refuses a user namespace: %v %s", err, out)
	}
	return how
}

// beNobody changes from root, for which the limit does not hold, to a user without other processes. A process that is
// not root keeps its user: other processes of the user may come and go, but few in the time that the child takes.
func beNobody(t *testing.T) {
	if os.Getuid() == 0 {
		user := 1_000_000_000 + os.Getpid()
		require.NoError(t, syscall.Setgid(user))
		require.NoError(t, syscall.Setuid(user))
	}
}

// runNearTheLimit blocks more tasks than there are workers and spares where there may be room more threads than there
// are.
func runNearTheLimit(t *testing.T, room int) {
	var limit unix.Rlimit
	require.NoError(t, unix.Getrlimit(unix.RLIMIT_NPROC, &limit))
	limit.Cur = min(limit.Max, uint64(threadsOfUser(t)+room))
	require.NoError(t, unix.Setrlimit(unix.RLIMIT_NPROC, &limit))
	ex, err := executor.New(executor.Config{Workers: 2, Spares: 12})
	if err != nil {
		require.ErrorContains(t, err, "RLIMIT_NPROC")
		fmt.Println("refused")
		return
	}
	most := 0
	for range 2 {
		gate := make(chan struct{})
		calls := callsThatBlock(t, 4)
		r := ex.Start(context.Background(), fan(30, func(context.Context) error {
			executor.Blocking(func() { <-gate })
			return nil
		}))
		for i := 0; i < 6 || room == plenty && most < 12; i++ {
			runtime.GC() // all Ps have something to do
			most = max(most, ex.Serving())
			time.Sleep(time.Millisecond)
		}
		close(gate)
		calls()
		require.NoError(t, r.Wait())
	}
	require.NoError(t, ex.Close())
	fmt.Println("spares:", most, "at most")
}

// callsThatBlock starts n goroutines that are in system calls until the function that it returns ends the calls. Each
// holds a thread of the runtime's, which needs others besides.
func callsThatBlock(t *testing.T, n int) (end func()) {
	t.Helper()
	var ends [2]int
	require.NoError(t, unix.Pipe2(ends[:], unix.O_CLOEXEC))
	var wg sync.WaitGroup
	for range n {
		wg.Go(func() {
			if _, err := unix.Read(ends[0], make([]byte, 1)); err != nil {
				t.Error(err)
			}
		})
	}
	return func() {
		require.NoError(t, unix.Close(ends[1]))
		wg.Wait()
		require.NoError(t, unix.Close(ends[0]))
	}
}

// TestThreadLimitAtOnce: near a limit several goroutines make executors, block tasks, lose threads by Goexit, start
// processes, call C and close the executors, at the same time. New may refuse, but the runtime finds room for its
// threads.
func TestThreadLimitAtOnce(t *testing.T) {
	if told := os.Getenv(childVar); told != "" {
		var seed uint64
		var limit, group string
		_, err := fmt.Sscan(told, &seed, &limit, &group)
		require.NoError(t, err)
		crowdTheLimit(t, rand.New(rand.NewPCG(seed, 9)), limit, group)
		return
	}
	seed := testkit.Seed(t)
	n := testkit.Count(t, 20)
	group := "none"
	if g, err := cgroup.CreateThreads(fmt.Sprintf("magpie-test-%d", os.Getpid()), 10_000); err == nil {
		defer func() { require.NoError(t, g.Remove()) }()
		group = g.Dir
	}
	for i := range uint64(n) {
		limit := limits[(seed+i)%uint64(len(limits))]
		if limit == "pids.max" && group == "none" {
			limit = "RLIMIT_NPROC" // groups cannot be made here
		}
		inChild(t, fmt.Sprint(seed+i, " ", limit, " ", group))
	}
	testkit.Proved(t, n, "processes near a limit on threads")
}

// limits are what bounds the threads of a process: the limit of its user, of the runtime, of its control group, and of
// its address space. A test cannot set that of the whole system.
var limits = []string{"RLIMIT_NPROC", "SetMaxThreads", "pids.max", "RLIMIT_AS"}

// limitThreads makes the process one of nobody's, and gives it a limit that leaves room for so many more threads. group
// is the folder of a control group.
func limitThreads(t *testing.T, limit, group string, room int) {
	t.Helper()
	threads, err := os.ReadDir("/proc/self/task")
	require.NoError(t, err)
	most := len(threads) + room
	switch limit {
	case "SetMaxThreads":
		beNobody(t)
		debug.SetMaxThreads(most) // the runtime ends the process if it has more already
	case "pids.max":
		require.NoError(t, os.WriteFile(filepath.Join(group, "pids.max"), []byte(fmt.Sprint(most)), 0o644))
		require.NoError(t, (&cgroup.Group{Dir: group}).Add(os.Getpid()))
		beNobody(t)
	case "RLIMIT_AS":
		beNobody(t)
		var pages int64
		statm, err := os.ReadFile("/proc/self/statm")
		require.NoError(t, err)
		_, err = fmt.Sscan(string(statm), &pages)
		require.NoError(t, err)
		var r, stack unix.Rlimit
		require.NoError(t, unix.Getrlimit(unix.RLIMIT_AS, &r))
		require.NoError(t, unix.Getrlimit(unix.RLIMIT_STACK, &stack))
		const forTheHeap, arena = 256 << 20, 64 << 20
		r.Cur = uint64(pages*int64(os.Getpagesize())) + uint64(room)*(min(stack.Cur, 8<<20)+arena) + forTheHeap
		require.NoError(t, unix.Setrlimit(unix.RLIMIT_AS, &r))
	default:
		beNobody(t)
		var r unix.Rlimit
		require.NoError(t, unix.Getrlimit(unix.RLIMIT_NPROC, &r))
		r.Cur = min(r.Max, uint64(threadsOfUser(t)+room))
		require.NoError(t, unix.Setrlimit(unix.RLIMIT_NPROC, &r))
	}
}

func crowdTheLimit(t *testing.T, rng *rand.Rand, limit, group string) {
	// What the test does besides: its goroutines are in system calls, and each may have a process, and a thread that
	// waits for the process.
	callers := 1 + rng.IntN(8)
	room := rng.IntN(41)
	limitThreads(t, limit, group, 8+2*callers+room)
	var all sync.WaitGroup
	made, refused := atomic.Int64{}, atomic.Int64{}
	for range callers {
		workers, spares, execs, calls := 1+rng.IntN(4), rng.IntN(20)-1, rng.IntN(4) == 0, rng.IntN(4) == 0
		all.Go(func() {
			for range 8 {
				ex, err := executor.New(executor.Config{Workers: workers, Spares: spares})
				if err != nil {
					refused.Add(1)
					time.Sleep(time.Millisecond)
					continue
				}
				made.Add(1)
				run := ex.Start(context.Background(), fan(30, func(context.Context) error {
					executor.Blocking(func() { time.Sleep(50 * time.Microsecond) })
					return nil
				}))
				lost := ex.Start(context.Background(), one(goexit))
				if execs {
					_ = exec.Command("true").Run() // with one thread; it may be refused
				}
				if calls {
					_, _ = user.LookupId("4242") // calls the C library, where the test is linked to it
				}
				_, _ = run.Wait(), lost.Wait()
				_ = ex.Close()
			}
		})
	}
	all.Wait()
	fmt.Println(limit, "room", room, "made", made.Load(), "refused", refused.Load())
}

func threadsOfUser(t *testing.T) (n int) {
	processes, err := filepath.Glob("/proc/[0-9]*")
	require.NoError(t, err)
	for _, p := range processes {
		status, _ := os.ReadFile(p + "/status") // it may have ended
		_, uid, _ := strings.Cut(string(status), "\nUid:\t")
		if strings.HasPrefix(uid, fmt.Sprint(os.Getuid(), "\t")) {
			threads, _ := os.ReadDir(p + "/task")
			n += len(threads)
		}
	}
	return n
}

// Where the system refuses to name threads, the executor works without names, and Dump says so.
func TestThreadNamesRefused(t *testing.T) {
	guests.None(t)
	told, out := inChild(t, "refuse")
	if told == "" {
		require.Contains(t, out, "worked")
		return
	}
	require.NoError(t, refuseNames())
	ex, err := fixture.New(t, executor.Config{Workers: 2, Name: "nameless"})
	require.NoError(t, err)
	meetAll(t, ex)
	require.Contains(t, dump(ex), "threads without names: operation not permitted")
	if comm, err := os.ReadFile(fmt.Sprintf("/proc/self/task/%d/comm", ex.Threads()[0])); err == nil {
		require.NotContains(t, string(comm), "nameless", "the test has refused nothing")
	}
	require.ErrorIs(t, ex.Run(t.Context(), one(goexit)), executor.ErrGoexit)
	require.NoError(t, ex.Run(t.Context(), one(nothing)))
	require.NoError(t, ex.Close())
	fmt.Println("worked")
}
