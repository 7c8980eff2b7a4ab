package executor

import "unsafe"

// futureOf returns the future whose first field is the item.
func futureOf(it *Item) *future { return (*future)(unsafe.Pointer(it)) }

const _ = -unsafe.Offsetof(future{}.Item)
