// Package osthread is what the executor and wsbench ask the operating system: who the calling thread is, how it is
// scheduled, and what the process has used and may still use.
//
// Functions about the calling thread are for goroutines that are locked to it with runtime.LockOSThread: on others, the
// answer may be about a thread that the goroutine has left by the time it arrives. Those that take a thread's id, and
// those about the process, may be called from any thread.
//
// On Linux everything is there. Elsewhere each function says what it falls back to; what cannot be had at all is
// [ErrUnsupported], or a zero that the function documents as "unknown", never a guess.
package osthread

import (
	"errors"
	"fmt"
	"runtime"
)

// ErrUnsupported says that the operating system has no call for what was asked. It wraps [errors.ErrUnsupported].
var ErrUnsupported = fmt.Errorf("osthread: not available on %s: %w", runtime.GOOS, errors.ErrUnsupported)
