//go:build !modelcheck && !magpie_chaos

package xatomic

import "unsafe"

// The hooks by which the operations of this package tell a model checker of each step: before and after an atomic step,
// and before a plain access. In a normal build they do nothing, and the calls vanish.

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
