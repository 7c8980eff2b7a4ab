//go:build modelcheck

package osthread

import (
	"runtime"
	"time"

	"github.com/magpie-go/magpie/internal/model"
)

// The threads of a program under package model take the place of the operating system's.

// ID identifies the calling thread of the program. Outside an exploration it is 0.
func ID() int64 {
	if !model.Active() {
		return 0
	}
	return 1 + int64(model.Self())
}

// Lock does nothing: a thread of the program never changes.
func Lock() {}

// LockFirmly does nothing.
func LockFirmly() {}

// LockBriefly does nothing.
func LockBriefly() {}

// UnlockBriefly does nothing.
func UnlockBriefly() {}

// Unlock does nothing.
func Unlock() {}

// IsMain is false.
func IsMain() bool { return false }

// SetName does nothing.
func SetName(string) error { return nil }

// SetNice does nothing.
func SetNice(int) error { return nil }

// SetClass does nothing.
func SetClass(Class) error { return nil }

// SetSlice does nothing.
func SetSlice(time.Duration) error { return nil }

// SetCPUs does nothing.
func SetCPUs([]int) error { return nil }

// CPUs is not supported.
func CPUs() ([]int, error) { return nil, ErrUnsupported }

// OnlineCPUs is unknown: nil.
func OnlineCPUs() []int { return nil }

// CoresFirst returns the CPUs in the order given.
func CoresFirst(cpus []int) []int { return cpus }

// Yield gives way to other threads of the program.
func Yield() {
	if !model.Active() {
		runtime.Gosched()
		return
	}
	model.GiveWay()
}

// Gone is true: no thread waits for one that has ended.
func Gone(int64) bool { return true }

// SelfGone is false.
func SelfGone(int64) bool { return false }

// CPU is not supported.
func CPU(int64) (time.Duration, error) { return 0, ErrUnsupported }

// Claim returns nil: package model has limits of its own.
func Claim(n, ps int) error { return nil }

// ArrivePs does nothing.
func ArrivePs(ps int) {}

// ComingPs returns 0.
func ComingPs() int { return 0 }

// ClaimAnyway does nothing.
func ClaimAnyway() {}

// ClaimSpare returns true.
func ClaimSpare() bool { return true }

// AfterRefusal does nothing: there is none.
func AfterRefusal(key any, again func()) {}

// Arrive does nothing.
func Arrive() {}

// Unclaim does nothing.
func Unclaim() {}

// SelfIsGoroutine says whether Self is a number of the goroutine and not of the thread.
const SelfIsGoroutine = false
