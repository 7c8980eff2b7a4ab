//go:build !modelcheck

package executor

// FrameOf is frameOf. It is inlined into the caller, as frameOf is.
func FrameOf(p *struct{}) uintptr { return frameOf(p) }

// A Stack is a stack.
type Stack struct{ s stack }

// Has is stack.has.
func (s *Stack) Has(here uintptr) bool { return s.s.has(s.s.lo, here) }

// Note is stack.note.
func (s *Stack) Note(here uintptr) (moved bool) { return s.s.note(here) }
