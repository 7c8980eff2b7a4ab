//go:build !modelcheck

package executor

import "unsafe"

// frameOf tells stack frames apart: s is a parameter of a function that is inlined or called with it, so that its address
// lies in the frame of the caller or at a constant distance from it. A frame has another number after the stack has moved.
func frameOf(s **Scope) uintptr { return uintptr(unsafe.Pointer(s)) }

// stackBlock is the smallest size that a stack has, and where blocks begin: each belongs to one stack as a whole.
const stackBlock = 2048

// isBeside reports whether two places are in one block of a stack. It is how a call on another goroutine is noticed for
// the price of a load: other is on the worker's stack.
//
// After the runtime has moved that stack, a block of the old one may belong to another goroutine's until the worker's
// next Fork or Join. A misuse there is then noticed later.
func isBeside(here, other uintptr) bool { return here^other < stackBlock }

// isNear reports whether two places, of frames of which one has called the other, may be on one stack that has not
// moved.
func isNear(here, other uintptr) bool { return here-other+4*stackBlock < 8*stackBlock }

// A stack has the blocks of the stack of a worker's goroutine where scopes were used last.
type stack [8]uintptr

func (s *stack) has(here uintptr) bool { return s[here/stackBlock%8] == here/stackBlock }

func (s *stack) note(here uintptr) { s[here/stackBlock%8] = here / stackBlock }
