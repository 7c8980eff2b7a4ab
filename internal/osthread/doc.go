// Package osthread asks the operating system about the calling thread, its scheduling, and what the process has used
// and may still use.
//
// Functions about the calling thread are for goroutines that are locked to it with runtime.LockOSThread. Any other
// goroutine may have left the thread by the time the answer arrives. Functions that take a thread's id, and functions
// about the process, may be called from any thread.
//
// On Linux every function works. Elsewhere each function documents its fallback. A function that has none returns
// [ErrUnsupported] or a zero documented as "unknown", never a guess.
package osthread

import (
	"errors"
	"fmt"
	"runtime"
)

// ErrUnsupported says that the operating system has no call for the request. It wraps [errors.ErrUnsupported].
var ErrUnsupported = fmt.Errorf("osthread: not available on %s: %w", runtime.GOOS, errors.ErrUnsupported)
