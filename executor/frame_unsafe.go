//go:build !modelcheck

package executor

import "unsafe"

// frameOf tells stack frames apart: s is a parameter of a function that is inlined or called with it, so that its address
// lies in the frame of the caller or at a constant distance from it. A frame has another number after the stack has moved.
func frameOf(s **Scope) uintptr { return uintptr(unsafe.Pointer(s)) }
