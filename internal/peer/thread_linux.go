//go:build !modelcheck

package peer

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/magpie-go/magpie/internal/osthread"
	"github.com/magpie-go/magpie/internal/pad"
	"golang.org/x/sys/unix"
)

// A Thread is a worker's OS thread as its peers see it. The zero value stands for no thread.
//
// The methods that take a peer are called on the thread that has entered the receiver. Each method may be called while
// any other one is under way.
type Thread struct {
	_ pad.Line

	// Written by Enter and Leave, read by every peer.
	id   atomic.Int64         // 0: no thread has entered
	area atomic.Pointer[area] // of this package; nil: none is registered
	lent atomic.Pointer[area] // of the C library, in the place of area; nil: none

	_ pad.Line

	// Written by peers.
	pull    atomic.Uint32 // idle, or held by the one peer that pulls, or by Leave
	again   atomic.Int64  // the time, by sinceStart, before which no peer pulls
	readers atomic.Int32  // the peers that read lent now

	_ pad.Line
}

// Values of pull.
const (
	idle uint32 = iota
	held
)

// CoolDown is how long a thread stays where a peer has pulled it. A preempted thread waits a few milliseconds for a
// core: the kernel's slice is about 3 ms. A second pull within that time would move a thread that has just moved, with
// cold caches each time.
const CoolDown = 3 * time.Millisecond

var (
	started    = time.Now()
	sinceStart = func() int64 { return int64(time.Since(started)) } // a test replaces it
)

// startSet is the set of CPUs of the main thread when the program began: package variables are set on that thread. A
// thread with another set has been given it.
var startSet, startErrno = func() (set unix.CPUSet, errno syscall.Errno) {
	errno = affinity(0, &set)
	return
}()

// areas are free for the next thread. An area is never unmapped: a peer may still read the area of a thread that has
// ended, and the kernel writes the area of a thread that ends without Leave until the end.
var areas struct {
	mu   sync.Mutex
	free []*area
}

// registered says that a thread of this process had a registration from this package. Then the C library makes none.
var registered atomic.Bool

// Has returns nil if this process has the feature now, and an error that wraps ErrUnsupported and says what to do if
// it has not. It tries the feature out on the calling thread.
func Has(f Feature) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	switch f {
	case SameCPU:
		if registered.Load() {
			return nil // the calling thread may be one of those, and a second registration fails
		}
		a, errno := register()
		if errno == 0 {
			unregisterArea(a)
		} else if borrow(errno) == nil {
			return rseqError(errno)
		}
		return nil
	case Clock:
		if _, errno := system.clock(osthread.ID()); errno != 0 {
			return clockError(errno)
		}
		return nil
	case Pull:
		var set unix.CPUSet
		if startErrno != 0 {
			return affinityError("sched_getaffinity", startErrno)
		}
		if errno := system.affinity(osthread.ID(), &set); errno != 0 {
			return affinityError("sched_getaffinity", errno)
		}
		if errno := system.setAffinity(osthread.ID(), &set); errno != 0 {
			return affinityError("sched_setaffinity", errno)
		}
		return nil
	case Records:
		r, err := Record(osthread.ID())
		if err != nil {
			return err
		}
		return r.Close()
	}
	return fmt.Errorf("peer: %v: %w", f, ErrUnsupported)
}

// register gives the calling thread an area. It fails if the thread has a registration.
func register() (*area, syscall.Errno) {
	a, errno := takeArea()
	if errno != 0 {
		return nil, errno
	}
	if errno := system.rseq(a, 0); errno != 0 {
		freeArea(a)
		return nil, errno
	}
	return a, 0
}

// unregisterArea takes the area from the calling thread. The area is lost if the kernel refuses: it may go on writing.
func unregisterArea(a *area) {
	if system.rseq(a, unregister) == 0 {
		freeArea(a)
	}
}

// borrow returns the C library's area of the calling thread, nil if there is none. register has failed with errno.
func borrow(errno syscall.Errno) *area {
	if errno != unix.EINVAL && errno != unix.EBUSY {
		return nil // the thread has no registration
	}
	if registered.Load() {
		return nil // the thread has that of another Thread
	}
	return libraryArea()
}

func takeArea() (*area, syscall.Errno) {
	areas.mu.Lock()
	defer areas.mu.Unlock()
	if len(areas.free) == 0 {
		more, errno := mapAreas()
		if errno != 0 {
			return nil, errno
		}
		areas.free = more
	}
	last := len(areas.free) - 1
	a := areas.free[last]
	areas.free = areas.free[:last]
	return a, 0
}

func freeArea(a *area) {
	areas.mu.Lock()
	defer areas.mu.Unlock()
	areas.free = append(areas.free, a)
}

// Enter makes t stand for the calling thread, to which the goroutine is locked, until Leave. A second Enter of the same
// thread does nothing. A Thread that stands for another thread panics.
//
// An error, which wraps ErrUnsupported, says why the kernel does not keep the thread's CPU number. Clock works then all
// the same; SharesCPU is false, and Pull refuses.
func (t *Thread) Enter() error {
	id := osthread.ID()
	switch was := t.id.Load(); was {
	case 0:
		t.id.Store(id)
	case id:
	default:
		panic(fmt.Sprintf("peer: thread %d enters a Thread that thread %d has not left", id, was))
	}
	if t.current() != nil {
		return nil
	}
	a, errno := register()
	if errno == 0 {
		registered.Store(true)
		t.area.Store(a)
		return nil
	}
	if a := borrow(errno); a != nil {
		t.lent.Store(a)
		return nil
	}
	return rseqError(errno)
}

// Leave makes t stand for no thread. The thread that has entered t calls Leave before it ends; it waits for peers that
// are about to pull it, or read its CPU number in the C library's memory. Leave does nothing if no thread has entered.
// Another thread panics.
func (t *Thread) Leave() {
	id := t.id.Load()
	if id == 0 {
		return
	}
	if id != osthread.ID() {
		panic(fmt.Sprintf("peer: thread %d leaves a Thread that thread %d has entered", osthread.ID(), id))
	}
	// A puller uses the id until it lets go. After the end of the thread, the kernel may give the id to another one.
	for !t.pull.CompareAndSwap(idle, held) {
		osthread.Yield()
	}
	t.id.Store(0)
	t.pull.Store(idle)
	if a := t.area.Swap(nil); a != nil {
		// A peer may have loaded a before: it reads that the area has no CPU, or the CPU of the next thread to have it.
		unregisterArea(a)
	}
	if t.lent.Swap(nil) != nil {
		for t.readers.Load() > 0 { // the memory may go when the thread ends
			osthread.Yield()
		}
	}
}

// current returns the area of t's thread, nil if there is none. Another thread must not read what lent points to.
func (t *Thread) current() *area {
	if a := t.area.Load(); a != nil {
		return a
	}
	return t.lent.Load()
}

// lentCPU returns the CPU that the C library's area of t's thread has, noCPU if there is none. Any thread. If there is
// none it writes nothing, so that Leave need not wait for long.
func (t *Thread) lentCPU() uint32 {
	if t.lent.Load() == nil {
		return noCPU
	}
	t.readers.Add(1) // Leave waits from here on, unless it has taken lent away by now
	cpu := noCPU
	if a := t.lent.Load(); a != nil {
		cpu = a.cpu.Load()
	}
	t.readers.Add(-1)
	return cpu
}

// ID returns the kernel's id of the thread, 0 if no thread has entered. Any thread.
func (t *Thread) ID() int64 { return t.id.Load() }

// SharesCPU reports whether v's last CPU is the one that the caller, t's thread, runs on. Then v is not running. It may
// be preempted or blocked. False says nothing: v may run, or may have been switched out on another CPU.
//
// The answer is wrong where v's number is old: in the microseconds after the kernel has put v on another CPU, and while
// v is in a system call in which it was moved.
func (t *Thread) SharesCPU(v *Thread) bool {
	mine := t.current()
	if mine == nil || mine == v.current() {
		return false
	}
	// The caller's number is compared after v's was loaded as well. Otherwise the caller could be moved between the two
	// loads, and v could have run all the time on the CPU that the caller has left.
	cpu := mine.cpu.Load()
	var last uint32
	if its := v.area.Load(); its != nil {
		last = its.cpu.Load()
	} else {
		last = v.lentCPU()
	}
	return last == cpu && mine.cpu.Load() == cpu
}

// Clock returns the CPU time that t's thread has used; ok is false if there is no such thread. Any thread.
//
// A thread whose clock has not advanced in a microsecond or more was not running. Each call takes a lock of the CPU
// that the thread is on.
func (t *Thread) Clock() (ns int64, ok bool) {
	id := t.id.Load()
	if id == 0 { // an id of 0 would name the calling thread's clock
		return 0, false
	}
	ns, errno := system.clock(id)
	return ns, errno == 0
}
