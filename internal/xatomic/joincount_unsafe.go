package xatomic

import (
	"sync/atomic"
	"unsafe"
)

// A JoinCount counts a task's unfinished predecessors. It is armed by whoever owns the task, then counted down by
// anybody, and armed again by the one thread that saw it fire.
type JoinCount struct{ n uint32 }

// Arm sets the count. The caller is the only one to touch it: every thread that counted down before has been seen to by
// an atomic of this or of another word, and those who will count down later learn of the task through another.
func (c *JoinCount) Arm(n uint32) {
	write(unsafe.Pointer(&c.n))
	c.n = n
}

// Last reports whether the caller's count is the only one outstanding. Counts only fall while armed, and the caller's
// own is among them, so a true answer stays true and saves the locked instruction of Done. Any thread that owes a count.
func (c *JoinCount) Last() bool {
	before(load, unsafe.Pointer(&c.n))
	n := atomic.LoadUint32(&c.n)
	after(load, unsafe.Pointer(&c.n))
	return n == 1
}

// Done counts n predecessors down and reports whether the counter fired: exactly one caller per arming gets true.
// Any thread that owes n counts.
func (c *JoinCount) Done(n uint32) bool {
	before(update, unsafe.Pointer(&c.n))
	left := atomic.AddUint32(&c.n, -n)
	after(update, unsafe.Pointer(&c.n))
	return left == 0
}

// DoneInTurn counts one predecessor down and reports whether the counter fired, which one in every n callers gets true
// for: the counter is armed with n, and arms itself again. Unlike Done it may be called by several threads on behalf of
// one predecessor that has finished as often, and the next turn may begin before the last has been armed. Any thread.
//
// It is not inlined because the compiler would order the caller's code in another way than without the hooks.
//
//go:noinline
func (c *JoinCount) DoneInTurn(n uint32) bool {
	before(update, unsafe.Pointer(&c.n))
	left := int32(atomic.AddUint32(&c.n, ^uint32(0)))
	after(update, unsafe.Pointer(&c.n))
	// After k counts left is n−k, and n more for each time that somebody has armed the counter: 0 or below when it
	// fires, since that was at most once for each n counts before.
	fired := left%int32(n) == 0
	if fired {
		c.armAgain(n)
	}
	return fired
}

// armAgain arms a counter that fires in turns, after a turn. The thread that saw it fire.
func (c *JoinCount) armAgain(n uint32) {
	before(update, unsafe.Pointer(&c.n))
	atomic.AddUint32(&c.n, n)
	after(update, unsafe.Pointer(&c.n))
}

// DoneAlone is Done(1) without a locked instruction, for when no other thread can count down.
func (c *JoinCount) DoneAlone() bool {
	write(unsafe.Pointer(&c.n))
	c.n--
	return c.n == 0
}
