//go:build linux && !magpie_portable_park && !modelcheck

package park

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A Place keeps a thread that is woken off the CPU of its waker, which goes on to use it.
//
// The kernel looks for an idle CPU for a thread that wakes, beginning where the thread ran last. On a virtual machine a
// CPU whose idle time the host gives to others does not count as idle. So a thread that ran last where its waker runs
// now is put there, behind the waker, and waits up to a slice of some milliseconds while another CPU is idle. It is the
// same the next time, since the thread has run there again.
//
// The owner, whose thread sleeps, calls Note before it can be woken, and Restore afterwards. A thread that is about to
// wake the owner may call Leave if no other thread can wake it. No two calls are concurrent: what publishes that the
// owner sleeps, and what wakes it, publishes the fields.
type Place struct {
	thread int         // the system's ID; 0: it was never asleep
	cpu    int32       // where the thread ran last; -1: unknown
	away   bool        // a waker has taken a CPU out of the thread's set
	barred bool        // the system refuses, and is not asked again
	moves  uint64      // how often Leave has taken a CPU out
	set    unix.CPUSet // the thread's own, if away is set
}

// Note is called by the owner before its sleep. It takes 0.2 µs.
func (p *Place) Note() {
	if !p.barred {
		p.thread, p.cpu = unix.Gettid(), currentCPU()
	}
}

// Leave has the thread wake on another CPU than the caller's if it ran last on that one and may use another. It takes
// 0.1 µs, and 1 µs more if it does.
func (p *Place) Leave() {
	if p.barred || p.thread == 0 {
		return
	}
	here := currentCPU()
	if !p.away {
		if here < 0 || here != p.cpu {
			return
		}
		// It is an error if the machine has more CPUs than the set has room for.
		if getAffinity(p.thread, &p.set) != nil {
			p.barred = true
			return
		}
	}
	others := p.set
	others.Clear(int(here))
	if others.Count() == 0 {
		return
	}
	if setAffinity(p.thread, &others) != nil {
		p.barred = !p.away // if it is away, Restore has to be called
		return
	}
	p.away = true
	p.moves++
}

// Restore is called by the owner after its sleep. It gives the thread the CPUs back that Leave has taken out of its
// set, which takes 0.5 µs.
func (p *Place) Restore() {
	if !p.away {
		return
	}
	p.away = false
	if setAffinity(0, &p.set) != nil {
		// The process may use none of them any longer. The kernel leaves out what the thread may not use.
		p.set.Fill()
		p.barred = setAffinity(0, &p.set) != nil
	}
}

// Moves returns how often Leave has taken a CPU out of the thread's set. The owner only, awake.
func (p *Place) Moves() uint64 { return p.moves }

// Tests replace them.
var (
	getAffinity = unix.SchedGetaffinity
	setAffinity = unix.SchedSetaffinity
	currentCPU  = getCPU
)

// getCPU returns the number of the CPU that the caller runs on, or -1.
func getCPU() int32 {
	var cpu uint32
	if _, _, errno := syscall.RawSyscall(unix.SYS_GETCPU, uintptr(unsafe.Pointer(&cpu)), 0, 0); errno != 0 {
		return -1
	}
	return int32(cpu)
}
