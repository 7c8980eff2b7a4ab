package model

import (
	"fmt"
	"unsafe"
)

// The code under test calls the functions below, directly or through its twins of atomics and threads. Outside an
// exploration Point, Done, Read, Write, Spin and GiveWay do nothing.

// Point is called before an atomic operation on the word at p. [Done] is called after it.
func Point(kind Kind, p unsafe.Pointer) {
	if x := active; x != nil {
		x.step(kind, p, nil)
	}
}

// Done says what kind of operation it was in the end: a failed compare-and-swap is a load.
func Done(kind Kind, p unsafe.Pointer) {
	if x := active; x != nil {
		x.sync(kind, p)
	}
}

// Read is called before a plain read of the word at p.
func Read(p unsafe.Pointer) {
	if x := active; x != nil {
		x.access(false, p)
	}
}

// Write is called before a plain write of the word at p.
func Write(p unsafe.Pointer) {
	if x := active; x != nil {
		x.access(true, p)
	}
}

// Active reports whether an exploration is going on.
func Active() bool { return active != nil }

// Go starts a thread of the program and returns a function that waits for its end.
func Go(f func()) (join func()) {
	x := active
	t := x.spawn(f)
	x.begin(t)
	return func() {
		x.step(Join, nil, func() bool { return t.done })
		x.current.clock.join(&t.clock)
		x.current.past = x.current.past.and(uint64(t.past))
	}
}

// Spin is called in a loop that waits for other threads. The caller goes on when another thread has changed something
// since the caller last came here.
func Spin() {
	if x := active; x != nil {
		x.yield()
	}
}

// GiveWay is called where the caller offers its core to other threads. The caller goes on as after [Spin], or when no
// other thread can go on.
func GiveWay() {
	if x := active; x != nil {
		t := x.current
		t.polite = true
		x.yield()
		t.polite = false
	}
}

// Block is [Point] for an operation that waits until ready returns true. ready looks at the word at p, and must not
// call Point. A Load with a nil p may look at several words: [Done] is then called for each.
func Block(kind Kind, p unsafe.Pointer, ready func() bool) { active.step(kind, p, ready) }

// Self returns the number of the calling thread, from 0.
func Self() int { return active.current.id }

// Calm runs f without exploring: the running thread goes on as long as it can, and then the next one that can. Calm is
// for the parts of a program that other model programs examine.
func Calm(f func()) {
	active.pin()
	active.calm++
	f()
	active.calm--
}

// Choose picks one of n outcomes; each of them is explored.
func Choose(n int) int {
	x, i := active, 0
	if x.calm == 0 && !x.covered {
		i = x.strategy.value(n)
		x.decisions = append(x.decisions, i)
	}
	// Add i in a calm too: the calm may be that of another thread, which the caller's past does not include.
	x.current.past = x.current.past.and(uint64(i))
	return i
}

// maxSpurious bounds the waits that end for no reason in one execution. Without a bound there would be executions
// without end.
const maxSpurious = 2

// FutexWait sleeps on the word at p until a wake, if unchanged reports that the word still has the expected value. With
// spurious set, a return for no reason, as from the kernel's futex, is explored too.
func FutexWait(p unsafe.Pointer, unchanged func() bool, spurious bool) {
	x := active
	x.step(Wait, p, nil)
	x.eventAt(Wait, p)
	if !unchanged() {
		return // EAGAIN
	}
	if spurious && x.spurious < maxSpurious && Choose(2) == 1 {
		x.spurious++ // a stray wake, or EINTR
		return
	}
	t := x.current
	t.asleep, t.woken = p, false
	x.step(Wait, p, func() bool { return t.woken })
	t.asleep = nil
	t.past = t.past.and(uint64(t.wakers))
}

// FutexWake wakes one thread that sleeps on the word at p.
func FutexWake(p unsafe.Pointer) {
	x := active
	x.step(Wake, p, nil)
	x.eventAt(Wake, p)
	var asleep []*thread
	for _, t := range x.threads {
		if t.asleep == p && !t.woken {
			asleep = append(asleep, t)
		}
	}
	if len(asleep) > 0 {
		i := 0
		if len(asleep) > 1 {
			i = Choose(len(asleep))
		}
		asleep[i].woken, asleep[i].wakers = true, x.current.past
	}
}

// Assert fails the execution if ok is false.
func Assert(ok bool, format string, args ...any) {
	if ok {
		return
	}
	if x := active; x != nil {
		x.stop("assertion: " + fmt.Sprintf(format, args...))
	}
	panic(fmt.Sprintf(format, args...))
}
