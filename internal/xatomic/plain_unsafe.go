package xatomic

import "unsafe"

// A Plain is a word that one thread writes and others read, neither of them atomically, because an atomic word, a lock or
// the start of a thread orders the two. It costs what a field of type T does; the model checker finds the accesses that
// nothing orders.
type Plain[T any] struct{ v T }

// Get reads the word.
func (p *Plain[T]) Get() T {
	v := p.v
	read(unsafe.Pointer(p)) // not &p.v, and after it, or p would be checked for nil once more
	return v
}

// Set writes the word.
func (p *Plain[T]) Set(v T) {
	write(unsafe.Pointer(p))
	p.v = v
}
