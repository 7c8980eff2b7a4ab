//go:build modelcheck

package executor

import "runtime"

// frameOf identifies a stack frame by its depth: addresses change from one execution to the next.
func frameOf(*struct{}) uintptr {
	var callers [256]uintptr
	return uintptr(runtime.Callers(2, callers[:]))
}

func isSameFrame(here, other uintptr) bool { return here == other }

// isBeside is always true: the threads of a model program are not OS threads.
func isBeside(_, _ uintptr) bool { return true }

func noFrameBeside(here uintptr) uintptr { return here + 1<<20 }

func isNear(_, _ uintptr) bool { return true }

// A stack has no state in model programs.
type stack struct{}

func (*stack) has(uintptr) bool { return true }

func (*stack) note(uintptr) {}
