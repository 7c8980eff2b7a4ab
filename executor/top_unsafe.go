package executor

import "unsafe"

// A top says where a scope is among its worker's forks. Owner only, plain.
//
// Its addresses are not pointers, so that Fork and Join store them without asking the collector. The worker's pools
// keep all calls, and a call is never moved.
type top struct {
	span        // 0 while the function has children: then Fork and Join take their slow paths
	pool   any  // the *callPool that next is in, or nil if that is not known
	hidden span // what span is without children, while there are some
}

// A span tells Fork where to make forks without looking for a pool.
type span struct {
	next uintptr // the call that the next Fork takes; the newest fork is at the level below
	last uintptr // next, or a call above it in pool, which Fork does not take
}

// set sets next and last.
func (t *top) set(s span) {
	if t.next == 0 {
		t.hidden = s
		return
	}
	t.span = s
}

// lower sets next to f, which was the newest fork and is out of use. It does not look for the pool of f, which matters
// to the next Fork only.
func (t *top) lower(f *fork) {
	t.pool = nil // also for Joins after this one, which set next to calls below f
	t.set(span{f.address(), f.address()})
}

// hide makes Fork and Join of the scope take their slow paths.
func (t *top) hide() {
	if t.next != 0 {
		t.span, t.hidden = span{}, t.span
	}
}

// show undoes hide.
func (t *top) show() {
	if t.next == 0 {
		t.span = t.hidden
	}
}

// address returns the address of the call that the next Fork takes.
func (t *top) address() uintptr {
	if t.next != 0 {
		return t.next
	}
	return t.hidden.next
}

// address returns what forkAt returns f for.
func (f *fork) address() uintptr { return uintptr(unsafe.Pointer(f)) }

func forkAt(address uintptr) *fork { return *(**fork)(unsafe.Pointer(&address)) }

// nextOf returns next, which is in a pool of these types or only compared.
func nextOf[A, R any](t *top) *call[A, R] { return *(**call[A, R])(unsafe.Pointer(&t.next)) }

// lastOf returns last, likewise.
func lastOf[A, R any](t *top) *call[A, R] { return *(**call[A, R])(unsafe.Pointer(&t.last)) }

// above returns the address of the next call of the pool. c is not the pool's last, but may be nil.
func (c *call[A, R]) above() uintptr { return uintptr(unsafe.Pointer(c)) + unsafe.Sizeof(*c) }

// below returns the call before c in the pool. c is not its first.
func (c *call[A, R]) below() *call[A, R] {
	return (*call[A, R])(unsafe.Add(unsafe.Pointer(c), -int(unsafe.Sizeof(*c))))
}
