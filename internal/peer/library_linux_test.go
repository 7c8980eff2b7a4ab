//go:build !modelcheck

package peer

import (
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/require"
)

// withLibrary names an environment variable. It is set where the C library keeps its registration.
const withLibrary = "MAGPIE_PEER_LIBRARY"

// TestWithLibrary runs all tests once more where the C library has registered each thread.
func TestWithLibrary(t *testing.T) {
	if os.Getenv(withLibrary) != "" {
		t.Skip("this is the run with the C library")
	}
	if os.Getenv("GLIBC_TUNABLES") == "" {
		t.Skip("there is no registration by a C library")
	}
	exe, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.Command(exe, "-test.v")
	cmd.Env = append(os.Environ(), withLibrary+"=1", "GLIBC_TUNABLES=glibc.pthread.rseq=1")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	if _, why, skipped := strings.Cut(string(out), "--- SKIP: TestLibraryArea"); skipped {
		t.Skip(why)
	}
	require.Contains(t, string(out), "--- PASS: TestLibraryArea")
}

// TestLibraryArea: each thread has the area that the C library has for it.
func TestLibraryArea(t *testing.T) {
	if os.Getenv(withLibrary) == "" || tryRegister() == nil || threadPointer() == 0 {
		t.Skip("no C library has registered the threads, or its area is not looked for here")
	}
	require.NoError(t, Has(SameCPU))
	require.NotNil(t, library.Load())
	a, b := newActor(t), newActor(t)
	require.Nil(t, a.area.Load())
	lent := a.lent.Load()
	require.NotNil(t, lent)
	require.NotSame(t, lent, b.lent.Load())
	var second Thread
	a.do(func() {
		if err := second.Enter(); err != nil || second.lent.Load() != lent || a.SharesCPU(&second) {
			t.Errorf("a second Thread of the same thread: %v", err)
		}
		second.Leave()
	})
	a.do(a.Leave)
	require.Nil(t, a.current())
	require.Equal(t, noCPU, a.lastCPU())
	a.do(func() {
		if err := a.Enter(); err != nil || a.lent.Load() != lent {
			t.Errorf("the library has no registration after Leave: %v", err)
		}
	})
}

// TestLastCPU moves threads that come and go.
func TestLastCPU(t *testing.T) {
	need(t, SameCPU, Pull)
	all := cpus(t, 2)
	for range 10 {
		a := newActor(t)
		for range 10 {
			for _, cpu := range all {
				a.pin(t, cpu)
				a.do(func() {}) // it has been in user mode since
				require.EqualValues(t, cpu, a.lastCPU())
			}
		}
		a.unpin(t)
	}
}

func TestFindPlace(t *testing.T) {
	const base = 1 << 20
	sizes := areaSizes()
	require.EqualValues(t, areaSize, sizes[0])
	for _, want := range []place{
		{0, areaSize}, {2464, areaSize}, {^uintptr(544) + 1, areaSize}, {64, sizes[len(sizes)-1]},
		{reach, areaSize}, {^uintptr(reach) + 1, areaSize},
	} {
		replace(t, &system.isRegistered, func(addr, size uintptr) bool {
			return addr == base+want.offset && size == want.size
		})
		got := findPlace(base)
		require.NotNil(t, got)
		require.Equal(t, want, *got)
	}
	replace(t, &system.isRegistered, nowhere)
	require.Nil(t, findPlace(base))
}

// TestPlaceIsAskedFor: the place that was found is asked for in each thread, and no other one.
func TestPlaceIsAskedFor(t *testing.T) {
	if threadPointer() == 0 {
		t.Skip("no area is looked for here")
	}
	was := library.Swap(&place{offset: 96, size: areaSize})
	defer library.Store(was)
	asked, is := 0, true
	replace(t, &system.isRegistered, func(addr, size uintptr) bool {
		asked++
		return is && addr == threadPointer()+96
	})
	onThread(func() {
		if libraryArea() == nil || asked != 1 {
			t.Errorf("asked %d times", asked)
		}
	})
	is = false
	require.Nil(t, libraryArea())
	require.Equal(t, 2, asked)
}

// TestLeaveWaitsForReaders: nobody reads the C library's memory after Leave.
func TestLeaveWaitsForReaders(t *testing.T) {
	a := &actor{tasks: make(chan func())}
	var threads sync.WaitGroup
	threads.Go(func() { onNewThread(a.serve) })
	a.do(func() { _ = a.Enter() })
	if old := a.area.Swap(nil); old != nil {
		a.do(func() { unregisterArea(old) })
	}
	a.lent.Store(new(area))

	end := make(chan struct{})
	var reads sync.WaitGroup
	reads.Go(func() {
		for {
			select {
			case <-end:
				return
			default:
				a.lastCPU()
			}
		}
	})
	testkit.Until(t, "a reader counts", func() bool { return a.readers.Load() > 0 })
	close(end)
	reads.Wait()
	require.Zero(t, a.readers.Load())

	a.readers.Add(1)
	var left atomic.Bool
	threads.Go(func() {
		a.do(a.Leave)
		left.Store(true)
	})
	testkit.Until(t, "Leave takes the area away", func() bool { return a.lent.Load() == nil })
	for range 10 {
		time.Sleep(time.Millisecond)
		runtime.Gosched()
	}
	require.False(t, left.Load(), "a peer reads")
	a.readers.Add(-1)
	testkit.Until(t, "Leave has returned", left.Load)
	require.Equal(t, noCPU, a.lastCPU())
	close(a.tasks)
	threads.Wait()
}
