//go:build !modelcheck

package peer

import (
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/magpie-go/magpie/internal/osthread"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// TestMain runs the tests with areas of this package, and TestWithLibrary once more with those of the C library.
func TestMain(m *testing.M) {
	if os.Getenv(withLibrary) == "" {
		testkit.FreeRSEQ(tryRegister())
	}
	os.Exit(m.Run())
}

// tryRegister tells what keeps the calling thread from an area of this package.
func tryRegister() error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	a, errno := register()
	if errno != 0 {
		return errno
	}
	unregisterArea(a)
	return nil
}

// needOwn skips a test that is about areas of this package.
func needOwn(t testing.TB) {
	t.Helper()
	if errno := tryRegister(); errno != nil && !registered.Load() {
		t.Skip("no area of this package: ", errno)
	}
}

// need skips a test that needs features which this system lacks.
func need(t testing.TB, all ...Feature) {
	t.Helper()
	for _, f := range all {
		if err := Has(f); err != nil {
			t.Skip(err)
		}
	}
}

// An actor is a thread that does what it is told. It ends with the test, and takes with it the set of CPUs that it has
// been given.
type actor struct {
	Thread
	tasks chan func()
}

// newActor starts a thread that has entered its Thread.
func newActor(t testing.TB) *actor {
	a := &actor{tasks: make(chan func())}
	var threads sync.WaitGroup
	threads.Go(func() { onNewThread(a.serve) })
	t.Cleanup(func() {
		close(a.tasks)
		threads.Wait()
	})
	a.do(func() {
		if err := a.Enter(); err != nil {
			t.Error(err)
		}
	})
	require.False(t, t.Failed())
	return a
}

// onNewThread runs f on a thread that ends with f. The main thread would be wedged instead: it is held meanwhile.
func onNewThread(f func()) {
	runtime.LockOSThread()
	if !osthread.IsMain() {
		f()
		return
	}
	onThread(f)
	runtime.UnlockOSThread()
}

// onThread runs f on a thread of its own and waits for it. f must not end the test.
func onThread(f func()) {
	var other sync.WaitGroup
	other.Go(func() { onNewThread(f) })
	other.Wait()
}

func (a *actor) serve() {
	defer a.Leave()
	for f := range a.tasks {
		f()
	}
}

// do has the thread run f, and waits for it. f must not end the test.
func (a *actor) do(f func()) {
	done := make(chan struct{})
	a.tasks <- func() {
		defer close(done)
		f()
	}
	<-done
}

// begin has the thread run f over and over until end is called, which waits for the last time.
func (a *actor) begin(f func()) (end func()) {
	var stop atomic.Bool
	done := make(chan struct{})
	a.tasks <- func() {
		defer close(done)
		for !stop.Load() {
			f()
		}
	}
	return func() {
		stop.Store(true)
		<-done
	}
}

// spin keeps the thread running until end is called.
func (a *actor) spin() (end func()) { return a.begin(func() {}) }

// pin keeps the thread on one CPU.
func (a *actor) pin(t testing.TB, cpu int) {
	var one unix.CPUSet
	one.Set(cpu)
	require.Zero(t, setAffinity(a.ID(), &one))
}

// unpin gives the thread the set of the process's start. The thread stays where it is for now.
func (a *actor) unpin(t testing.TB) {
	set := startSet
	require.Zero(t, setAffinity(a.ID(), &set))
}

// lastCPU returns the CPU that the thread was last seen on, noCPU if that is not known.
func (a *actor) lastCPU() uint32 {
	if own := a.area.Load(); own != nil {
		return own.cpu.Load()
	}
	return a.lentCPU()
}

func (a *actor) set(t testing.TB) (set unix.CPUSet) {
	require.Zero(t, affinity(a.ID(), &set))
	return set
}

// cpus returns the CPUs of the process, and skips the test if there are fewer than n.
func cpus(t testing.TB, n int) (all []int) {
	for cpu := range len(startSet) * 64 {
		if startSet.IsSet(cpu) {
			all = append(all, cpu)
		}
	}
	if len(all) < n {
		t.Skipf("it takes %d CPUs", n)
	}
	return all
}

// manyPs lets n threads with locked goroutines run Go code at the same time.
func manyPs(t testing.TB, n int) {
	was := runtime.GOMAXPROCS(n + 2)
	t.Cleanup(func() { runtime.GOMAXPROCS(was) })
}

// replace sets *p to a fake until the end of the test.
func replace[T any](t testing.TB, p *T, fake T) {
	was := *p
	*p = fake
	t.Cleanup(func() { *p = was })
}

// noneRegistered is as if no thread had had a registration yet, until the end of the test.
func noneRegistered(t testing.TB) {
	was := registered.Swap(false)
	t.Cleanup(func() { registered.Store(was) })
}

// nowhere says that a thread has no registration at any place.
func nowhere(addr, size uintptr) bool { return false }

// always is a system call that fails.
func always(errno syscall.Errno) func(int64, *unix.CPUSet) syscall.Errno {
	return func(int64, *unix.CPUSet) syscall.Errno { return errno }
}
