package xatomic

import (
	"sync/atomic"
	"unsafe"
)

// A JoinCount counts a task's unfinished predecessors. The thread that owns the task arms it, any thread may count it
// down, and the one thread that sees it fire arms it again.
type JoinCount struct{ n uint32 }

// Arm sets the count. No other thread accesses it at the same time: atomic operations on this word or on another order
// the earlier counts before Arm, and Arm before the later counts.
func (c *JoinCount) Arm(n uint32) {
	write(unsafe.Pointer(&c.n))
	c.n = n
}

// Last reports whether the caller's count is the only one outstanding. Counts only fall while armed, and the caller's
// own is among them, so true stays true and saves the locked instruction of Done. Any thread that owes a count.
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

// DoneInTurn counts one predecessor down and reports whether the counter fired. One call in every n gets true: the
// counter is armed with n, and arms itself again. Unlike Done, several threads may call it on behalf of one predecessor
// that has finished several times, and the next turn may begin before the counter is armed for it. Any thread.
//
// It is not inlined because the compiler would order the caller's code differently with the hooks and without.
//
//go:noinline
func (c *JoinCount) DoneInTurn(n uint32) bool {
	before(update, unsafe.Pointer(&c.n))
	left := int32(atomic.AddUint32(&c.n, ^uint32(0)))
	after(update, unsafe.Pointer(&c.n))
	// After k counts left is n−k, plus n for each time that the counter was armed again. It was armed at most once for
	// each n counts before, so left is 0 or below when the counter fires.
	fired := left%int32(n) == 0
	if fired {
		c.armAgain(n)
	}
	return fired
}

// armAgain arms a counter that fires in turns, after a turn. Only the thread that saw it fire.
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
