// Package procs is the process's one ledger of reserved Ps.
//
// A worker that computes keeps its P busy. With as many workers as Ps, every other goroutine of the process waits for
// the runtime to preempt one of them, 10 ms at a time. So an executor raises GOMAXPROCS by its workers while it lives,
// and leaves it to the kernel to share the cores out. Several executors may do so at once, and the program itself may
// set GOMAXPROCS meanwhile.
//
// While Ps are reserved, the runtime's automatic updates of GOMAXPROCS, after a change of the CPU quota or affinity,
// are off.
package procs

import (
	"os"
	"runtime"
	"sync"
)

// Reserve raises GOMAXPROCS by n until release is called; calling that again does nothing. If somebody else sets
// GOMAXPROCS in between, their value stands and the release leaves it alone.
func Reserve(n int) (release func()) {
	epoch := process.reserve(n)
	return sync.OnceFunc(func() { process.release(n, epoch) })
}

// Base is the process's own GOMAXPROCS: what it would be if nothing were reserved.
func Base() int { return process.currentBase() }

var process = ledger{rt: goRuntime{}}

// A ledger knows how much of GOMAXPROCS is whose. Every call of set stops the world.
type ledger struct {
	rt runtimeProcs

	mu       sync.Mutex
	base     int  // what the process has without what is reserved; known while reserved > 0
	reserved int  // the sum of this epoch's reservations
	epoch    int  // changes when somebody else has set GOMAXPROCS: earlier reservations are void
	auto     bool // base is the runtime's own choice, to be handed back
}

// runtimeProcs is what the ledger needs of the runtime; tests have another.
type runtimeProcs interface {
	get() int
	set(n int)
	setDefault() // and switch automatic updates on
	fixed() bool // GOMAXPROCS stands in the environment
}

func (l *ledger) reserve(n int) (epoch int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.notice()
	if l.reserved == 0 {
		l.base = l.rt.get()
		l.auto = false
		if !l.rt.fixed() {
			// Whether the value is the runtime's choice can only be found out by asking for that. If it is not, it is
			// put back below, with the reservation.
			l.rt.setDefault()
			l.auto = l.rt.get() == l.base
		}
	}
	l.reserved += n
	l.rt.set(l.base + l.reserved)
	return l.epoch
}

func (l *ledger) release(n, epoch int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.notice()
	if epoch != l.epoch {
		return
	}
	l.reserved -= n
	if l.reserved == 0 && l.auto {
		l.rt.setDefault()
	} else {
		l.rt.set(l.base + l.reserved)
	}
}

func (l *ledger) currentBase() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.notice()
	if l.reserved == 0 {
		return l.rt.get()
	}
	return l.base
}

// notice finds out whether somebody else has set GOMAXPROCS since the ledger last did.
func (l *ledger) notice() {
	if l.reserved > 0 && l.rt.get() != l.base+l.reserved {
		l.reserved = 0
		l.epoch++
	}
}

type goRuntime struct{}

func (goRuntime) get() int    { return runtime.GOMAXPROCS(0) }
func (goRuntime) set(n int)   { runtime.GOMAXPROCS(n) }
func (goRuntime) setDefault() { runtime.SetDefaultGOMAXPROCS() }
func (goRuntime) fixed() bool { return os.Getenv("GOMAXPROCS") != "" }
