//go:build modelcheck

package executor

import "runtime"

// frameOf tells stack frames apart, by their depth: addresses change from one execution to the next.
func frameOf(**Scope) uintptr {
	var callers [256]uintptr
	return uintptr(runtime.Callers(2, callers[:]))
}

// isBeside is always true: the model's threads are no threads of the system.
func isBeside(_, _ uintptr) bool { return true }

func isNear(_, _ uintptr) bool { return true }

// A stack knows nothing here.
type stack struct{}

func (*stack) has(uintptr) bool { return true }

func (*stack) note(uintptr) {}
