//go:build !modelcheck

package executor

import "unsafe"

// frameOf identifies the stack frame of the caller, or of the function that the caller is inlined in: p points to a
// variable of the caller without a size, and the compiler puts all of these at about the same place. The number of a
// frame changes when the stack moves.
func frameOf(p *struct{}) uintptr { return uintptr(unsafe.Pointer(p)) }

// isSameFrame reports whether two results of frameOf are of one frame. Two frames are at least as far apart as a return
// address and a frame pointer.
func isSameFrame(here, other uintptr) bool { return here-other+8 < 16 }

// stackBlock is the smallest size, and the alignment, of a stack: a block of that size and alignment belongs to one
// stack.
const stackBlock = 2048

// stackGap is less than the room that the runtime keeps free of frames at the low end of each stack, for functions that
// do not check for an overflow: at least 800 bytes (abi.StackNosplitBase).
const stackGap = 768

// isBeside reports whether two addresses of frames are in one block of a stack, or closer to each other than frames of
// two stacks can be. If other is on the worker's stack, it shows for the price of a load that here is too, and not on
// another goroutine's. The second test is for frames on both sides of a boundary: without it all forks there would be
// checked by the thread.
//
// After the runtime has moved the worker's stack, a block of the old stack may belong to another goroutine until the
// worker's next Fork or Join. A misuse by that goroutine is not noticed until then.
func isBeside(here, other uintptr) bool {
	return here^other < stackBlock || here-other+stackGap < 2*stackGap
}

// noFrameBeside returns an address beside here that is not taken for here's frame. Frames of other stacks are further
// than stackGap from it too: it is 32 bytes from here, and 32 is the room that the runtime leaves besides.
func noFrameBeside(here uintptr) uintptr { return here ^ 32 }

// isNear reports whether two addresses may be on one stack that has not moved, if the function of one frame has called
// that of the other.
func isNear(here, other uintptr) bool { return here-other+4*stackBlock < 8*stackBlock }

// A stack caches blocks of the worker's stack, those in which scopes were used last.
type stack [8]uintptr

func (s *stack) has(here uintptr) bool { return s[here/stackBlock%8] == here/stackBlock }

func (s *stack) note(here uintptr) { s[here/stackBlock%8] = here / stackBlock }
