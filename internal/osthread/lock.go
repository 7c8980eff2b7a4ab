//go:build !modelcheck

package osthread

import "runtime"

// Lock ties the calling goroutine to its thread, which from then on runs no other goroutine: runtime.LockOSThread.
func Lock() { runtime.LockOSThread() }

// surplus is how many calls of Unlock without a Lock a goroutine stands after LockFirmly. Arbitrary.
const surplus = 1000

// LockFirmly is Lock for a goroutine that calls functions of others, which may call Unlock once too often.
func LockFirmly() {
	for range 1 + surplus {
		runtime.LockOSThread()
	}
}

// Unlock undoes one Lock.
func Unlock() { runtime.UnlockOSThread() }
