// Package procs is the process's one ledger of reserved Ps.
//
// A worker that computes keeps its P busy. With as many workers as Ps, every other goroutine of the process waits for
// the runtime to preempt one of them, 10 ms at a time. So an executor raises GOMAXPROCS by its workers while it lives,
// and leaves it to the kernel to share the cores out. Several executors may do so at once, and the program itself may
// set GOMAXPROCS meanwhile: one ledger tells whose is how much, where executors that each saved and restored a number
// would restore each other's reservations.
//
// While Ps are reserved, the runtime's automatic updates of GOMAXPROCS, after a change of the CPU quota or affinity,
// are off. They come back with the last release if they were on before, as far as can be told: a program that has set
// GOMAXPROCS to the very value that the runtime would choose is taken for one that has not set it.
package procs

import "sync"

// Reserve raises GOMAXPROCS by n until release is called; calling that again does nothing. If somebody else sets
// GOMAXPROCS in between, their value stands: it becomes the process's own, and the release leaves it alone. Reserving
// none changes nothing, a negative number panics.
//
// Any thread; Reserve and release may stop the world.
func Reserve(n int) (release func()) { return process.reserve(n) }

// Base is the process's own GOMAXPROCS: what it would be if nothing were reserved.
//
// Any thread.
func Base() int { return process.currentBase() }

var process = ledger{rt: goRuntime{}}

// A ledger knows how much of GOMAXPROCS is whose. What was set last is always base + reserved.
type ledger struct {
	rt runtimeProcs

	mu       sync.Mutex
	base     int  // what the process has without what is reserved; known while reserved > 0
	reserved int  // the sum of this epoch's reservations
	epoch    int  // changes when somebody else has set GOMAXPROCS: earlier reservations are void
	auto     bool // base is the runtime's own choice, to be handed back
}

func (l *ledger) reserve(n int) (release func()) {
	if n < 0 {
		panic("procs: Reserve of a negative number")
	}
	if n == 0 {
		// With an entry in the ledger, it would set GOMAXPROCS to what it is, which ends the automatic updates.
		return func() {}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.notice()
	if l.reserved == 0 {
		l.base = l.rt.get()
		l.auto = l.isAutomatic()
	}
	l.reserved += n
	l.rt.set(l.base + l.reserved)
	epoch := l.epoch
	return sync.OnceFunc(func() { l.release(n, epoch) })
}

// isAutomatic reports whether base is the runtime's own choice. It can be found out only by asking for that choice,
// which costs nothing if it is in force already. If it is not, GOMAXPROCS is wrong until the caller sets it.
func (l *ledger) isAutomatic() bool {
	if l.rt.fixed() {
		return false
	}
	l.rt.setDefault()
	return l.rt.get() == l.base
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

// notice finds out whether somebody else has set GOMAXPROCS since the ledger last did. Their value does not include what
// was reserved, so nothing of it is left to take back.
func (l *ledger) notice() {
	if l.reserved > 0 && l.rt.get() != l.base+l.reserved {
		l.reserved = 0
		l.epoch++
	}
}
