package executor

import "unsafe"

// isSame reports whether a and b are copies of one interface value. Unlike ==, it does not panic.
func isSame(a, b any) bool {
	type words [2]unsafe.Pointer
	return *(*words)(unsafe.Pointer(&a)) == *(*words)(unsafe.Pointer(&b))
}
