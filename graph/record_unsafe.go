package graph

import (
	"unsafe"

	"github.com/magpie-go/magpie/executor"
)

// The executor returns pointers to the items and bodies that it was given. Each is the first field of the struct in
// which it is embedded, so a pointer to the field is a pointer to the struct. Bodies of this package are embedded in
// run states, and items in records, spanItems and lateEnds, or they are roots and tickets; an item's Exec tells which.

func recordOf(it *executor.Item) *record { return (*record)(unsafe.Pointer(it)) }

func spanOf(it *executor.Item) *spanItem { return (*spanItem)(unsafe.Pointer(it)) }

func lateEndOf(it *executor.Item) *lateEnd { return (*lateEnd)(unsafe.Pointer(it)) }

func stateOf(b *executor.Body) *runState { return (*runState)(unsafe.Pointer(b)) }

// next returns the record after t. After the last task's comes the sentinel.
func (t *record) next() *record {
	return (*record)(unsafe.Add(unsafe.Pointer(t), unsafe.Sizeof(record{})))
}

// successor returns the record of the task at place i of succ. The plan's checks have made sure that both places exist.
func (r *runState) successor(i uint32) *record {
	at := *(*uint32)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(r.succ)), uintptr(i)*unsafe.Sizeof(i)))
	return (*record)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(r.records)), uintptr(at)*unsafe.Sizeof(record{})))
}

// index returns the task's number.
func (r *runState) index(t *record) uint32 {
	first := unsafe.Pointer(unsafe.SliceData(r.records))
	return uint32((uintptr(unsafe.Pointer(t)) - uintptr(first)) / unsafe.Sizeof(record{}))
}

// isExecTask reports whether the item's Exec is execTask.
func isExecTask(it *executor.Item) bool { return isFunc(it.Exec, execTask) }

// isExecJoin reports whether the item's Exec is execJoin.
func isExecJoin(it *executor.Item) bool { return isFunc(it.Exec, execJoin) }

// isFunc reports whether f and g are the same function, which is not a closure.
func isFunc(f, g exec) bool {
	return *(*unsafe.Pointer)(unsafe.Pointer(&f)) == *(*unsafe.Pointer)(unsafe.Pointer(&g))
}

// Compile-time checks of the offsets on which the casts above rely.
const (
	_ = -unsafe.Offsetof(record{}.Item)
	_ = -unsafe.Offsetof(spanItem{}.Item)
	_ = -unsafe.Offsetof(lateEnd{}.Item)
	_ = -unsafe.Offsetof(runState{}.Body)
)
