//go:build linux && !magpie_portable_park && !modelcheck

package park

import (
	"bytes"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A Place keeps a thread that is woken off the CPU of a waker that goes on to use it.
//
// The kernel looks for an idle CPU for a thread that wakes, beginning where the thread ran last. On a virtual machine a
// CPU whose idle time the host gives to others does not count as idle. So a thread that ran last where its waker runs
// now is put there, behind the waker, and waits up to a slice of some milliseconds while another CPU is idle. It is the
// same the next time, since the thread has run there again.
//
// The owner, whose thread sleeps, calls Note before it can be woken. A thread that is about to wake the owner may call
// Leave if no other thread can wake it. Then both call Return, the waker when it has woken the owner, and the owner
// when it is awake: whoever comes first gives the thread its CPUs back. What publishes that the owner sleeps publishes
// the plain fields.
type Place struct {
	// Of whoever can wake the owner.
	thread int         // the system's ID; 0: it was never asleep, or there is a filter
	cpu    int32       // where the thread ran last; -1: unknown
	moves  uint64      // how often Leave has taken a CPU out
	set    unix.CPUSet // Leave's

	away atomic.Int64 // the thread if its CPUs have to be given back, else 0
}

// Note is called by the owner before its sleep. It takes 0.2 µs.
func (p *Place) Note() {
	if !filteredAtStart() {
		p.thread, p.cpu = unix.Gettid(), currentCPU()
	}
}

// Leave takes the caller's CPU out of the set of CPUs that the sleeping thread may use, if the thread ran last on it
// and may use another. It takes 0.1 µs, and with Return 2 µs more if the thread ran last on the caller's CPU.
//
// It leaves a thread alone that has another set than the program had at its start: somebody has chosen that. Where the
// program was started with a set of its own, or has a filter of system calls, which may end the process for an attempt,
// it leaves all alone.
func (p *Place) Leave() {
	if p.thread == 0 {
		return
	}
	here := currentCPU()
	if here != p.cpu || here < 0 || isFiltered() {
		return
	}
	set := &p.set
	if getAffinity(p.thread, set) != nil || *set != *startSet() || !whole.is(p.thread, set) {
		return
	}
	set.Clear(int(here))
	if set.Count() == 0 || setAffinity(p.thread, set) != nil {
		return
	}
	p.moves++
	p.away.Store(int64(p.thread))
}

// Return lets the thread use all CPUs again if Leave has taken one out. By now the kernel has given it one.
//
// A waker that comes late, when the owner is awake and has gone on, may undo what the next one has done, which costs a
// move. It may as well undo a set of CPUs that the owner's thread has been given meanwhile. To read the set first would
// make that rarer, and not prevent it.
func (p *Place) Return() {
	if p.away.Load() != 0 {
		if thread := p.away.Swap(0); thread != 0 {
			_ = setAffinity(int(thread), &allCPUs) // an error: the thread has ended
		}
	}
}

// Moves returns how often Leave has taken a CPU out of the thread's set. The owner only, awake.
func (p *Place) Moves() uint64 { return p.moves }

// allCPUs stands for every CPU that the process may use, now or later.
var allCPUs = func() (set unix.CPUSet) {
	set.Fill()
	return set
}()

// startSet returns the set of the thread on which package variables are set when the program begins. It is empty, as no
// thread's is, if the machine has more CPUs than a set has room for.
var startSet = func() func() *unix.CPUSet {
	var set unix.CPUSet
	_ = unix.SchedGetaffinity(0, &set)
	return func() *unix.CPUSet { return &set }
}()

// whole says whether the program began with every CPU that it may use. If it did, a thread is given allCPUs back, and
// so has those that the process may use later. Else nobody can tell a set that was chosen for the program from one that
// is the container's.
var whole wholeness

type wholeness struct {
	mu         sync.Mutex
	known, yes bool
}

// is tries it out, once, on a thread that has the set with which the program began.
func (w *wholeness) is(thread int, set *unix.CPUSet) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.known {
		w.known = true
		var all unix.CPUSet
		if setAffinity(thread, &allCPUs) != nil {
			return false
		}
		if w.yes = getAffinity(thread, &all) == nil && all == *set; !w.yes {
			_ = setAffinity(thread, set)
		}
	}
	return w.yes
}

// Tests replace them.
var (
	getAffinity = unix.SchedGetaffinity
	setAffinity = unix.SchedSetaffinity
	currentCPU  = getCPU
	isFiltered  = hasFilter
)

// getCPU returns the number of the CPU that the caller runs on, or -1.
func getCPU() int32 {
	var cpu uint32
	if _, _, errno := syscall.RawSyscall(unix.SYS_GETCPU, uintptr(unsafe.Pointer(&cpu)), 0, 0); errno != 0 {
		return -1
	}
	return int32(cpu)
}

// hasFilter reports whether the caller's system calls are filtered, as seccomp(2) does. It asks with prctl, which
// naming a worker's thread needs as well.
func hasFilter() bool {
	mode, _, errno := syscall.RawSyscall(unix.SYS_PRCTL, unix.PR_GET_SECCOMP, 0, 0)
	if errno != 0 {
		return errno != unix.EINVAL // then the kernel has no filters
	}
	return mode != 0
}

// filteredAtStart reports the same of the first thread that asks, from a file: so a filter that forbids getcpu has
// nothing to object to.
var filteredAtStart = sync.OnceValue(func() bool {
	status, err := os.ReadFile("/proc/thread-self/status")
	tells, none := bytes.Contains(status, []byte("\nSeccomp:")), bytes.Contains(status, []byte("\nSeccomp:\t0\n"))
	return err != nil || tells && !none
})
