//go:build !modelcheck

package osthread

import "runtime"

// Lock ties the calling goroutine to its thread, which from then on runs no other goroutine: runtime.LockOSThread.
func Lock() { runtime.LockOSThread() }

// Unlock undoes one Lock.
func Unlock() { runtime.UnlockOSThread() }
