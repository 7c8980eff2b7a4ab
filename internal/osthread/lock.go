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

// few is how many calls of Unlock without a Lock a goroutine stands between LockBriefly and UnlockBriefly. That takes
// 5 ns, and a short call from outside 450 (Xeon, 2026-11-30).
const few = 2

// LockBriefly is LockFirmly for a short time, which UnlockBriefly ends.
func LockBriefly() {
	for range 1 + few {
		runtime.LockOSThread()
	}
}

// UnlockBriefly undoes LockBriefly. What is unlocked already stays so.
func UnlockBriefly() {
	for range 1 + few {
		runtime.UnlockOSThread()
	}
}

// Unlock undoes one Lock.
func Unlock() { runtime.UnlockOSThread() }
