//go:build !modelcheck

package peer

import (
	"fmt"
	"strconv"

	"golang.org/x/sys/unix"
)

// Why Pull refuses.
var (
	errNobody  = fmt.Errorf("%w: the caller or the peer has not entered, or the peer has left", ErrRefused)
	errTooSoon = fmt.Errorf("%w: a peer has pulled the thread within %v", ErrRefused, CoolDown)
	errHeld    = fmt.Errorf("%w: another peer is pulling the thread, or the thread leaves", ErrRefused)
	errPinned  = fmt.Errorf("%w: the program has chosen the thread's CPUs", ErrRefused)
)

// Pull moves v to the CPU of the caller, t's thread, and gives that CPU up: it is for a v that waits for a core on
// another CPU. v keeps its set of CPUs, so the kernel may move it again.
//
// Pull refuses, with an error that wraps ErrRefused, if another peer is at it or has pulled v within CoolDown; if the
// program has given v another set of CPUs than the process had at its start; and if either thread is not there. It has
// not given the CPU up then. Any other error is the kernel's and wraps ErrUnsupported.
func (t *Thread) Pull(v *Thread) error {
	now := sinceStart()
	if now < v.again.Load() {
		return errTooSoon
	}
	mine := t.current()
	if mine == nil || t == v {
		return errNobody
	}
	if !v.pull.CompareAndSwap(idle, held) {
		return errHeld
	}
	// Leave of v waits from here on: v's id stays v's.
	err := v.moveTo(mine.cpu.Load(), now)
	v.pull.Store(idle)
	if err == nil {
		afterPull()
	}
	return err
}

// moveTo moves t to a CPU. Caller holds t.pull.
func (t *Thread) moveTo(cpu uint32, now int64) error {
	id := t.id.Load()
	if id == 0 {
		return errNobody
	}
	t.again.Store(now + int64(CoolDown)) // after a failure as well: it would be the same again
	var set unix.CPUSet
	switch errno := system.affinity(id, &set); {
	case errno == unix.ESRCH:
		return errNobody // the thread has ended without Leave
	case errno != 0:
		return affinityError("sched_getaffinity", errno)
	case startErrno != 0:
		return affinityError("sched_getaffinity", startErrno)
	case set != startSet, !set.IsSet(int(cpu)):
		return errPinned
	}
	var one unix.CPUSet
	one.Set(int(cpu))
	if errno := system.setAffinity(id, &one); errno == unix.ESRCH {
		return errNobody
	} else if errno != 0 {
		return affinityError("sched_setaffinity", errno)
	}
	// The kernel has moved the thread by now. So the thread gets its set back at once, and not after the caller has
	// slept: no other thread has to see to it.
	return restore(id, &set)
}

// restore gives a thread its set of CPUs back, or every CPU that it may have if the kernel no longer takes that set. A
// thread that has ended needs none.
func restore(id int64, set *unix.CPUSet) error {
	errno := system.setAffinity(id, set)
	if errno == 0 || errno == unix.ESRCH {
		return nil
	}
	var all unix.CPUSet
	all.Fill() // the kernel leaves out what the thread may not have
	if system.setAffinity(id, &all) == 0 {
		return nil
	}
	return affinityError("sched_setaffinity, for the set that thread "+strconv.FormatInt(id, 10)+" had before", errno)
}

// afterPull gives the caller's CPU up. A benchmark compares other ways.
var afterPull = nap

// nap sleeps for the shortest time that timers can tell, 60 us with the kernel's usual timer slack. The kernel runs a
// thread that waits for the CPU meanwhile. After sched_yield it often picks the caller again, the more so as the other
// thread has just come. On 2 CPUs with Linux 6.18, 99 % of pulled threads ran before the caller was back from a sleep,
// a quarter did with sched_yield, a tenth with neither (BenchmarkGiveUpAfterPull). Longer sleeps keep the caller away
// longer; it can ask and sleep again instead.
func nap() { pause(1000) }
