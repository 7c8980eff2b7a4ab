// Package procs is the process's ledger of reserved Ps.
//
// A worker that computes keeps its P busy. With as many workers as Ps, every other goroutine of the process waits up to
// 10 ms for the runtime to preempt a worker. So an executor raises GOMAXPROCS, by more once its workers are busy for
// long, and leaves it to the kernel to share out the cores. Several executors may do so at once, and the program
// itself may set GOMAXPROCS meanwhile. If each executor saved and restored a number, executors would restore each
// other's reservations, so the reservations of a process are in one ledger.
//
// While Ps are reserved, the runtime's automatic updates of GOMAXPROCS, after a change of the CPU quota or affinity,
// are off. The last release turns them on again if they were on before. A program that has set GOMAXPROCS to the very
// value that the runtime would choose cannot be told from a program that has not set it.
package procs

import "sync"

// Reserve raises GOMAXPROCS by n until Release is called. If the program sets GOMAXPROCS in between, the program's
// value stands: it becomes the process's own, and Grow and Release leave it alone. Reserve(0) changes nothing; a
// negative n panics.
//
// Any thread; Reserve, Grow and Release may stop the world.
func Reserve(n int) *Reservation { return process.reserve(n) }

// Base returns the process's own GOMAXPROCS: its value without any reservation.
//
// Any thread.
func Base() int { return process.currentBase() }

var process = ledger{rt: goRuntime{}}

// A ledger knows how much of GOMAXPROCS is reserved. The value that it has set last is always base + reserved.
type ledger struct {
	rt runtimeProcs

	mu       sync.Mutex
	base     int  // GOMAXPROCS without the reservations; known while reserved > 0
	reserved int  // the sum of this epoch's reservations
	epoch    int  // changes when the program has set GOMAXPROCS: earlier reservations are void
	auto     bool // base is the runtime's own choice, to be handed back
}

// A Reservation is a number of Ps that GOMAXPROCS is raised by.
type Reservation struct {
	l     *ledger
	n     int // 0 after Release; guarded by l.mu
	epoch int // of its Ps
}

func (l *ledger) reserve(n int) *Reservation {
	r := &Reservation{l: l}
	l.mu.Lock()
	defer l.mu.Unlock()
	r.add(n)
	return r
}

// Grow raises GOMAXPROCS by n more. It does nothing after Release, or after Reserve(0).
func (r *Reservation) Grow(n int) {
	r.l.mu.Lock()
	defer r.l.mu.Unlock()
	if r.l.notice(); r.n > 0 && r.epoch == r.l.epoch {
		r.add(n)
	}
}

// add adds n Ps. The caller holds l.mu.
func (r *Reservation) add(n int) {
	if n < 0 {
		panic("procs: Reserve of a negative number")
	}
	if n == 0 {
		// With an entry in the ledger, add would set GOMAXPROCS to its current value, which ends the automatic updates.
		return
	}
	l := r.l
	l.notice()
	if l.reserved == 0 {
		l.base = l.rt.get()
		l.auto = l.isAutomatic()
	}
	l.reserved += n
	l.rt.set(l.base + l.reserved)
	r.n += n
	r.epoch = l.epoch
}

// isAutomatic reports whether base is the runtime's own choice. The only way to find out is to set that choice, which
// costs nothing if it is in force already. If it is not, GOMAXPROCS is wrong until the caller sets it.
func (l *ledger) isAutomatic() bool {
	if l.rt.fixed() {
		return false
	}
	l.rt.setDefault()
	return l.rt.get() == l.base
}

// Release gives all Ps of r back. A second call does nothing.
func (r *Reservation) Release() {
	l := r.l
	l.mu.Lock()
	defer l.mu.Unlock()
	n := r.n
	r.n = 0
	if l.notice(); n == 0 || r.epoch != l.epoch {
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

// notice finds out whether the program has set GOMAXPROCS since the ledger last did. The program's value includes no
// reservation, so nothing is left to take back.
func (l *ledger) notice() {
	if l.reserved > 0 && l.rt.get() != l.base+l.reserved {
		l.reserved = 0
		l.epoch++
	}
}
