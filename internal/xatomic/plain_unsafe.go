package xatomic

import "unsafe"

// A Plain is a word that one thread writes and other threads read, none of them atomically, because an atomic word, a
// lock or the start of a thread orders the accesses. It costs the same as a field of type T. The model checker reports
// accesses that nothing orders.
type Plain[T any] struct{ v T }

// Get reads the word.
func (p *Plain[T]) Get() T {
	v := p.v
	read(unsafe.Pointer(p)) // not &p.v, and after the load, or the compiler would check p for nil once more
	return v
}

// Set writes the word.
func (p *Plain[T]) Set(v T) {
	write(unsafe.Pointer(p))
	p.v = v
}
