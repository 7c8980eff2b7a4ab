package xatomic

import (
	"sync/atomic"
	"unsafe"
)

// A Slot is one place of a queue's ring. At any time it belongs to one thread, which reads and writes it plainly:
//
//   - free (nil): to the ring's owner, which may Put
//   - put: to the thread that claims the place by the queue's indices, which also publish the item
//   - claimed by a thief: to that thief, until its Yield makes the slot free again
//
// Only the step from the thief back to the owner has no index of its own: it is the nil that Yield stores and Free
// loads, atomically. So a push needs no atomic store to the slot. The accesses in between are plain, so the race
// detector checks this claim.
//
// The pointer is unsafe.Pointer because sync/atomic has no type with both plain and atomic access. It always holds a
// *T.
type Slot[T any] struct{ p unsafe.Pointer }

// Free reports whether the owner may Put into the slot. Owner only.
func (s *Slot[T]) Free() bool {
	before(load, unsafe.Pointer(&s.p))
	p := atomic.LoadPointer(&s.p)
	after(load, unsafe.Pointer(&s.p))
	return p == nil
}

// Put fills a free slot. The index that the owner stores next publishes p. Owner only.
func (s *Slot[T]) Put(p *T) {
	write(unsafe.Pointer(&s.p))
	s.p = unsafe.Pointer(p)
}

// Peek reads a slot that no other thread can claim. Owner only.
func (s *Slot[T]) Peek() *T {
	read(unsafe.Pointer(&s.p))
	return (*T)(s.p)
}

// Take empties a slot that the owner has claimed. It leaves nil, so that the ring keeps nothing alive. Owner only.
func (s *Slot[T]) Take() *T {
	write(unsafe.Pointer(&s.p))
	p := (*T)(s.p)
	s.p = nil
	return p
}

// Yield empties a slot that the calling thief has claimed and hands it back to the owner.
func (s *Slot[T]) Yield() *T {
	read(unsafe.Pointer(&s.p))
	p := (*T)(s.p)
	before(store, unsafe.Pointer(&s.p))
	atomic.StorePointer(&s.p, nil)
	after(store, unsafe.Pointer(&s.p))
	return p
}
