package graph

import (
	"unsafe"

	"github.com/magpie-go/magpie/executor"
)

// The executor hands back pointers to the items and bodies it was given. Each is the first field of the struct that it
// is embedded in, so the pointer to the one is the pointer to the other. Items of this package are only ever embedded
// in records and ranges, bodies in run states, and an item's Exec says which it is.

func recordOf(it *executor.Item) *record { return (*record)(unsafe.Pointer(it)) }

func spanOf(it *executor.Item) *spanItem { return (*spanItem)(unsafe.Pointer(it)) }

func stateOf(b *executor.Body) *runState { return (*runState)(unsafe.Pointer(b)) }

// next is the record after t. The last task's is the sentinel.
func (t *record) next() *record {
	return (*record)(unsafe.Add(unsafe.Pointer(t), unsafe.Sizeof(record{})))
}

// index is the task's number.
func (r *runState) index(t *record) uint32 {
	first := unsafe.Pointer(unsafe.SliceData(r.records))
	return uint32((uintptr(unsafe.Pointer(t)) - uintptr(first)) / unsafe.Sizeof(record{}))
}

// Compile-time checks of what the casts above rely on.
const (
	_ = -unsafe.Offsetof(record{}.Item)
	_ = -unsafe.Offsetof(spanItem{}.Item)
	_ = -unsafe.Offsetof(runState{}.Body)
)
