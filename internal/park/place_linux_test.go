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
	cpu     int32       // of the caller
	set     unix.CPUSet // of the thread
	allowed unix.CPUSet // for the process
	refuses bool        // every call that sets
	blind   bool        // every call that gets
	sets    int         // calls that have set
}

func (f *fakeSystem) replace(t *testing.T) {
	get, set, cpu := getAffinity, setAffinity, currentCPU
	t.Cleanup(func() { getAffinity, setAffinity, currentCPU = get, set, cpu })
	currentCPU = func() int32 { return f.cpu }
	getAffinity = func(_ int, to *unix.CPUSet) error {
		if f.blind {
			return unix.EINVAL
		}
		*to = f.set
		return nil
	}
	setAffinity = func(_ int, to *unix.CPUSet) error {
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
		f.sets++
		return nil
	}
}

func newFake(t *testing.T) (*fakeSystem, *Place) {
	f := &fakeSystem{cpu: 1, set: cpus(0, 1, 2), allowed: cpus(0, 1, 2, 3)}
	f.replace(t)
	p := &Place{}
	p.Note()
	return f, p
}

// TestPlace: a thread that ran last on the waker's CPU wakes on another, and has its own CPUs afterwards.
func TestPlace(t *testing.T) {
	f, p := newFake(t)
	p.Leave()
	require.Equal(t, cpus(0, 2), f.set)
	p.Restore()
	require.Equal(t, cpus(0, 1, 2), f.set)
	require.EqualValues(t, 1, p.Moves())

	f.cpu = 2 // the thread wakes where it ran last, on CPU 1
	f.sets = 0
	p.Leave()
	p.Restore()
	require.Zero(t, f.sets)
	require.EqualValues(t, 1, p.Moves())
}

// TestPlaceTwice: a wake-up that is taken back leaves the set as it is, and the next waker leaves its own CPU out.
func TestPlaceTwice(t *testing.T) {
	f, p := newFake(t)
	p.Leave()
	f.cpu = 2
	p.Leave()
	require.Equal(t, cpus(0, 1), f.set)
	f.cpu = 3 // the thread may not use it anyway
	p.Leave()
	require.Equal(t, cpus(0, 1, 2), f.set)
	p.Restore()
	require.Equal(t, cpus(0, 1, 2), f.set)
}

// TestPlaceAlone: a thread with one CPU, and one whose CPU is unknown, are left alone.
func TestPlaceAlone(t *testing.T) {
	f, p := newFake(t)
	f.set = cpus(1)
	p.Leave()
	require.Equal(t, cpus(1), f.set)
	p.Restore()
	require.Zero(t, f.sets)

	f.set, f.cpu = cpus(0, 1), -1
	p.Note()
	p.Leave()
	require.Zero(t, f.sets)
	require.Zero(t, p.Moves())
}

// TestPlaceRefused: where the system refuses, it is not asked again, and a thread keeps its CPUs.
func TestPlaceRefused(t *testing.T) {
	for name, refuse := range map[string]func(*fakeSystem){
		"get": func(f *fakeSystem) { f.blind = true },
		"set": func(f *fakeSystem) { f.refuses = true },
	} {
		t.Run(name, func(t *testing.T) {
			f, p := newFake(t)
			refuse(f)
			p.Leave()
			f.blind, f.refuses = false, false
			p.Restore()
			p.Note()
			p.Leave()
			require.Zero(t, f.sets)
		})
	}

	f, p := newFake(t)
	p.Leave()
	f.refuses, f.cpu = true, 2
	p.Leave() // in vain, but the thread is away still
	f.refuses = false
	p.Restore()
	require.Equal(t, cpus(0, 1, 2), f.set)
}

// TestPlaceIsLost: a thread none of whose CPUs the process may use any longer has all that the process may use.
func TestPlaceIsLost(t *testing.T) {
	f, p := newFake(t)
	p.Leave()
	f.allowed = cpus(3)
	p.Restore()
	require.Equal(t, cpus(3), f.set)
	p.Note()
	p.Leave()
	require.Equal(t, cpus(3), f.set, "there is no other")
}

// TestPlaceOfThread: the same with the kernel. The thread runs on another CPU when it wakes.
func TestPlaceOfThread(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var mine unix.CPUSet
	require.NoError(t, unix.SchedGetaffinity(0, &mine))
	if mine.Count() < 2 {
		t.Skip("one CPU")
	}
	here := 0
	for !mine.IsSet(here) {
		here++
	}
	one := cpus(here)
	require.NoError(t, unix.SchedSetaffinity(0, &one))
	defer func() { require.NoError(t, unix.SchedSetaffinity(0, &mine)) }()

	var p Place
	var sleeper Parker
	type seen struct {
		cpu int32
		set unix.CPUSet
	}
	asleep, awake := make(chan struct{}), make(chan seen)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends
		_ = unix.SchedSetaffinity(0, &one)
		p.Note()
		_ = unix.SchedSetaffinity(0, &mine)
		close(asleep)
		sleeper.Park()
		var s seen
		s.cpu = getCPU()
		p.Restore()
		_ = unix.SchedGetaffinity(0, &s.set)
		awake <- s
	}()
	<-asleep
	p.Leave()
	sleeper.Unpark()
	s := <-awake
	require.NotEqual(t, int32(here), s.cpu)
	require.Equal(t, mine, s.set)
	require.EqualValues(t, 1, p.Moves())
}
