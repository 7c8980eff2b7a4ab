//go:build !linux && !modelcheck

package osthread

import (
	"bytes"
	"fmt"
	"runtime"
	"strconv"
	"time"
)

// ID identifies the calling thread among those of the process. There is no portable call for it. For a goroutine that is
// locked to its thread, the goroutine's number proves the same: no other goroutine runs on the thread, nor this one
// elsewhere. The head of a stack trace tells it, at about a microsecond. Numbers are never used again.
func ID() int64 {
	var buf [64]byte
	head := buf[:runtime.Stack(buf[:], false)] // goroutine 18 [running]:
	fields := bytes.Fields(head)
	if len(fields) < 2 {
		panic(fmt.Sprintf("osthread: no goroutine number in %q", head))
	}
	id, err := strconv.ParseInt(string(fields[1]), 10, 64)
	if err != nil {
		panic(fmt.Sprintf("osthread: no goroutine number in %q", head))
	}
	return id
}

// IsMain is false: which thread is the process's first cannot be asked portably. A locked goroutine that ends on that
// thread wedges it: one sleeping thread is left over, at most once in a process, and nobody waits for it, as Gone is true.
func IsMain() bool { return false }

// SetName does nothing.
func SetName(string) error { return nil }

// SetNice is not possible: threads have no nice value of their own here.
func SetNice(int) error { return ErrUnsupported }

// Yield gives way to other goroutines; there is no portable call for threads. It makes a locked goroutine hand its P over
// and wait for it, some microseconds, which is acceptable only where parking costs as much: the portable park goes
// through the Go scheduler as well.
func Yield() { runtime.Gosched() }

// Gone is true: whether a thread still exists cannot be asked.
func Gone(int64) bool { return true }

// CPU is not possible: threads have no CPU clock that another may read portably.
func CPU(int64) (time.Duration, error) { return 0, ErrUnsupported }
