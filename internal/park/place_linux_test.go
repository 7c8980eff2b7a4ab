//go:build linux && !magpie_portable_park && !modelcheck

package park

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

func cpus(numbers ...int) (s unix.CPUSet) {
	for _, n := range numbers {
		s.Set(n)
	}
	return s
}

// A fakeSystem takes the place of the kernel for one thread.
type fakeSystem struct {
	cpu             int32       // of the caller
	set             unix.CPUSet // of the thread
	allowed         unix.CPUSet // for the process
	start           unix.CPUSet // with which the program began
	filtered        bool
	filteredAtStart bool
	refuses         bool // every call that sets
	blind           bool // every call that gets
	calls           int  // that get or set
}

func (f *fakeSystem) replace(t *testing.T) {
	get, set, cpu, start := getAffinity, setAffinity, currentCPU, startSet
	filtered, atStart := isFiltered, filteredAtStart
	t.Cleanup(func() {
		getAffinity, setAffinity, currentCPU, startSet = get, set, cpu, start
		isFiltered, filteredAtStart = filtered, atStart
	})
	whole = wholeness{}
	t.Cleanup(func() { whole = wholeness{} })
	currentCPU = func() int32 { return f.cpu }
	startSet = func() *unix.CPUSet { return &f.start }
	isFiltered = func() bool { return f.filtered }
	filteredAtStart = func() bool { return f.filteredAtStart }
	getAffinity = func(_ int, to *unix.CPUSet) error {
		f.calls++
		if f.blind {
			return unix.EINVAL
		}
		*to = f.set
		return nil
	}
	setAffinity = func(_ int, to *unix.CPUSet) error {
		f.calls++
		if f.refuses {
			return unix.EPERM
		}
		var left unix.CPUSet
		for i := range left {
			left[i] = to[i] & f.allowed[i]
		}
		if left.Count() == 0 {
			return unix.EINVAL
		}
		f.set = left
		return nil
	}
}

func newFake(t *testing.T) (*fakeSystem, *Place) {
	all := cpus(0, 1, 2)
	f := &fakeSystem{cpu: 1, set: all, allowed: all, start: all}
	f.replace(t)
	p := &Place{}
	p.Note()
	return f, p
}

// TestPlace: a thread that ran last on the waker's CPU wakes on another, and may use all CPUs afterwards.
func TestPlace(t *testing.T) {
	f, p := newFake(t)
	for range 2 {
		p.Leave()
		require.Equal(t, cpus(0, 2), f.set)
		p.Return() // of the waker, or of the owner
		require.Equal(t, cpus(0, 1, 2), f.set)
		f.set = cpus(0)
		p.Return()
		require.Equal(t, cpus(0), f.set, "the other has done it")
		f.set = f.start
	}
	require.EqualValues(t, 2, p.Moves())

	f.cpu = 2 // the thread wakes where it ran last, on CPU 1
	calls := f.calls
	p.Leave()
	p.Return()
	require.Equal(t, calls, f.calls)
	require.EqualValues(t, 2, p.Moves())
}

// TestPlaceLeavesAlone: threads that stay where they are, with the set that they have.
func TestPlaceLeavesAlone(t *testing.T) {
	for name, change := range map[string]func(*fakeSystem, *Place){
		"unknown CPU":  func(f *fakeSystem, p *Place) { f.cpu = -1; p.Note() },
		"never asleep": func(_ *fakeSystem, p *Place) { p.thread = 0 },
		"a filter":     func(f *fakeSystem, _ *Place) { f.filtered = true },
		"a filter from the start": func(f *fakeSystem, p *Place) {
			f.filteredAtStart = true
			*p = Place{}
			p.Note()
		},
		"one CPU":              func(f *fakeSystem, _ *Place) { f.set, f.start, f.allowed = cpus(1), cpus(1), cpus(1) },
		"chosen set":           func(f *fakeSystem, _ *Place) { f.set = cpus(0, 1) },
		"chosen set, not here": func(f *fakeSystem, _ *Place) { f.set = cpus(0, 2) },
		"fewer for the process": func(f *fakeSystem, _ *Place) {
			f.set, f.allowed = cpus(1, 2), cpus(1, 2)
		},
		"chosen for the program": func(f *fakeSystem, _ *Place) { f.set, f.start = cpus(0, 1), cpus(0, 1) },
		"too many CPUs":          func(f *fakeSystem, _ *Place) { f.blind = true },
		"refused":                func(f *fakeSystem, _ *Place) { f.refuses = true },
	} {
		t.Run(name, func(t *testing.T) {
			f, p := newFake(t)
			change(f, p)
			set := f.set
			for range 2 {
				p.Leave()
				require.Equal(t, set, f.set)
				p.Return()
				require.Equal(t, set, f.set)
			}
			require.Zero(t, p.Moves())
			if f.filtered || f.filteredAtStart {
				require.Zero(t, f.calls)
			}
		})
	}
}

// TestPlaceGetsMore: a thread that is away while the process gets another CPU may use that too.
func TestPlaceGetsMore(t *testing.T) {
	f, p := newFake(t)
	p.Leave()
	f.allowed = cpus(0, 1, 2, 3)
	p.Return()
	require.Equal(t, cpus(0, 1, 2, 3), f.set)
}

// TestPlaceTwice: a second waker that comes before the first has returned the CPUs leaves the thread alone, and does
// not take what the first has left for the thread's set.
func TestPlaceTwice(t *testing.T) {
	f, p := newFake(t)
	p.Leave()
	p.Leave()
	require.EqualValues(t, 1, p.Moves())
	require.Equal(t, cpus(0, 2), f.set)
	p.Return()
	require.Equal(t, cpus(0, 1, 2), f.set)
}

// mayMove reports whether Leave may take a CPU out of the set of a thread of this process.
func mayMove(t *testing.T) bool {
	t.Helper()
	if hasFilter() {
		return false
	}
	var all unix.CPUSet
	require.NoError(t, unix.SchedSetaffinity(0, &allCPUs))
	require.NoError(t, unix.SchedGetaffinity(0, &all))
	require.NoError(t, unix.SchedSetaffinity(0, startSet()))
	return all == *startSet()
}

// TestPlaceOfThread: the same with the kernel. The thread runs on another CPU when it wakes.
func TestPlaceOfThread(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if startSet().Count() < 2 || !mayMove(t) {
		t.Skip("one CPU, or others than the process may use, or a filter of system calls")
	}
	here := 0
	for !startSet().IsSet(here) {
		here++
	}
	one := cpus(here)
	require.NoError(t, unix.SchedSetaffinity(0, &one))
	defer func() { require.NoError(t, unix.SchedSetaffinity(0, &allCPUs)) }()

	var p Place
	var sleeper Parker
	asleep, awake, seen, done := make(chan struct{}), make(chan int32), make(chan struct{}), make(chan unix.CPUSet)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends
		_ = unix.SchedSetaffinity(0, &one)
		p.Note()
		_ = unix.SchedSetaffinity(0, &allCPUs)
		close(asleep)
		sleeper.Park()
		awake <- getCPU()
		<-seen
		var set unix.CPUSet
		_ = unix.SchedGetaffinity(0, &set)
		done <- set
	}()
	<-asleep
	p.Leave()
	sleeper.Unpark()
	require.NotEqual(t, int32(here), <-awake)
	p.Return()
	close(seen)
	require.Equal(t, *startSet(), <-done)
	require.EqualValues(t, 1, p.Moves())
}

// TestFilter: this process has no filter of system calls by either look, or one by both.
func TestFilter(t *testing.T) { require.Equal(t, hasFilter(), filteredAtStart()) }
