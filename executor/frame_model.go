//go:build modelcheck

package executor

import "runtime"

// frameOf identifies a stack frame by its depth: addresses change from one execution to the next.
func frameOf(*struct{}) uintptr { return uintptr(runtime.Callers(2, frames[:])) }

// frames is for frameOf, which one thread calls at a time. Its own array would have to be cleared in each call.
var frames [256]uintptr

// A stack of a model program is everywhere: the threads of a model program are not OS threads.
type stack struct{ lo uintptr }

const noStack = ^uintptr(0)

func (*stack) has(_, _ uintptr) bool { return true }

// slack is more than any here-lo, also for noStack.
func (*stack) slack() uintptr { return 1 << 31 }

func (*stack) note(uintptr) (moved bool) { return false }
