//go:build !modelcheck && !magpie_chaos

package xatomic

import "unsafe"

// What the operations of this package tell a model checker: before and after an atomic step, and before a plain access.
// In a normal build that is nobody, and the calls vanish.

type kind uint8

const (
	load kind = iota
	store
	update
)

func before(kind, unsafe.Pointer) {}
func after(kind, unsafe.Pointer)  {}
func read(unsafe.Pointer)         {}
func write(unsafe.Pointer)        {}
