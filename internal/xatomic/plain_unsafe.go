package xatomic

import "unsafe"

// A Plain is a word that one thread writes and others read, neither of them atomically, because an atomic word, a lock or
// the start of a thread orders the two. It costs what a field of type T does; the model checker finds the accesses that
// nothing orders.
type Plain[T any] struct{ v T }

// Get reads the word.
func (p *Plain[T]) Get() T {
	read(unsafe.Pointer(p)) // not &p.v, which would check p for nil once more
	return p.v
}

// Set writes the word.
func (p *Plain[T]) Set(v T) {
	write(unsafe.Pointer(p))
	p.v = v
}
