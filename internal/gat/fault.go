package gat

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// catchFaults makes faults of the calling goroutine panics. It returns the setting before, for rescue.
func catchFaults() (before bool) { return debug.SetPanicOnFault(true) }

// rescue is deferred around each access to a mapping. It makes an error of a fault in the mapping, and passes on every
// other panic. It also keeps the mapping: its receiver is reachable until the access is over.
func (f *file) rescue(before bool, err *error) {
	debug.SetPanicOnFault(before)
	r := recover()
	if r == nil {
		return
	}
	fault, ok := r.(interface {
		runtime.Error
		Addr() uintptr
	})
	if !ok || !spans(f.mapping, fault.Addr()) {
		panic(r)
	}
	*err = fmt.Errorf("%w: its file was truncated", ErrLost)
}
