//go:build modelcheck

package executor

import "runtime"

// frameOf tells stack frames apart, by their depth: addresses change from one execution to the next.
func frameOf(**Scope) uintptr {
	var callers [256]uintptr
	return uintptr(runtime.Callers(2, callers[:]))
}
