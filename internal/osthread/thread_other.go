//go:build !linux && !modelcheck

package osthread

import (
	"bytes"
	"fmt"
	"runtime"
	"strconv"
	"time"
)

// ID identifies the calling thread among those of the process. There is no portable call for it. For a goroutine that
// is locked to its thread, the goroutine's number serves as well: no other goroutine runs on the thread, and this one
// runs on no other. ID reads the number from the head of a stack trace, in about a microsecond. Numbers are never
// reused.
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

// IsMain is false: no portable call tells which thread is the process's first. A locked goroutine that ends on that
// thread wedges it. At most one sleeping thread is then left in a process, and no thread waits for it, as Gone is true.
func IsMain() bool { return false }

// SetName does nothing.
func SetName(string) error { return nil }

// SetNice is not supported: threads have no portable nice value of their own.
func SetNice(int) error { return ErrUnsupported }

// Yield gives way to other goroutines; there is no portable call for threads. A locked goroutine hands its P over and
// waits for it, which takes some microseconds. That is acceptable only where parking costs as much: the portable park
// goes through the Go scheduler as well.
func Yield() { runtime.Gosched() }

// Gone is true: no portable call tells whether a thread still exists.
func Gone(int64) bool { return true }

// SelfGone is false: no portable call tells whether a thread still exists.
func SelfGone(int64) bool { return false }

// CPU is not supported: no portable call reads another thread's CPU clock.
func CPU(int64) (time.Duration, error) { return 0, ErrUnsupported }

// SelfIsGoroutine says whether Self is a number of the goroutine and not of the thread.
const SelfIsGoroutine = true
