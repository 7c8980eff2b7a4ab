//go:build !modelcheck

package executor

import "unsafe"

// frameOf identifies the stack frame of the caller, or of the function that the caller is inlined in: p points to a
// variable of the caller without a size, and the compiler puts all of these at the same place. The number of a frame
// changes when the stack moves.
func frameOf(p *struct{}) uintptr { return uintptr(unsafe.Pointer(p)) }

// stackBlock is the smallest size, and the alignment, of a stack: a block of that size and alignment belongs to one
// stack.
const stackBlock = 2048

// A stack is what is known of the stack on which the worker runs: the blocks from lo on, of size bytes together, are
// its own. The worker has been in the first and in the last, and a stack is contiguous.
//
// After the runtime has moved the worker's stack, the blocks may belong to another goroutine. The worker notices at its
// first use of a scope that is 8 KiB or more outside them.
type stack struct{ lo, size uintptr }

// noStack is the lo of no stack: no address is in size bytes from there on.
const noStack = ^uintptr(0)

// has reports whether here, an address on the caller's stack, shows that the caller is on the worker's stack. lo is
// that of the stack, or noStack.
func (s *stack) has(lo, here uintptr) bool { return here-lo < s.size }

// slack returns the number that here-lo is less than if the stack has here. It is not 0.
func (s *stack) slack() uintptr { return max(s.size, 1) }

// note adds the block of here, an address on the worker's stack. It reports whether it has forgotten the others,
// because the stack may have moved since.
func (s *stack) note(here uintptr) (moved bool) {
	const near = 4 * stackBlock
	lo, hi := here&^(stackBlock-1), here|(stackBlock-1)+1
	if s.size != 0 {
		if moved = here-s.lo+near >= s.size+2*near; !moved {
			lo, hi = min(lo, s.lo), max(hi, s.lo+s.size)
		}
	}
	s.lo, s.size = lo, hi-lo
	return moved
}
