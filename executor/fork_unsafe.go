package executor

import "unsafe"

// forkOf returns the fork whose first field is the item.
func forkOf(it *Item) *fork { return (*fork)(unsafe.Pointer(it)) }

// callOf returns the call whose first field is the item's fork. Only the call's own Exec knows its types.
func callOf[A, R any](it *Item) *call[A, R] { return (*call[A, R])(unsafe.Pointer(it)) }

// childOf returns the child whose first field is the item's fork.
func childOf(it *Item) *child { return (*child)(unsafe.Pointer(it)) }

// scopeRunOf returns the run whose first field is the body. Every fork has such a body.
func scopeRunOf(b *Body) *scopeRun { return (*scopeRun)(unsafe.Pointer(b)) }

const (
	_ = -unsafe.Offsetof(fork{}.Item)
	_ = -unsafe.Offsetof(child{}.fork)
	_ = -unsafe.Offsetof(scopeRun{}.Body)
	_ = -unsafe.Offsetof(call[int, int]{}.fork)
)
