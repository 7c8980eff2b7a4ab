//go:build !linux

package osthread

import (
	"bytes"
	"errors"
	"fmt"
	"runtime"
	"strconv"
)

// ID identifies the calling thread among those of the process. There is no portable call for it. For a goroutine that is
// locked to its thread, the goroutine's number proves the same, and the head of a stack trace tells it.
func ID() int64 {
	var buf [64]byte
	fields := bytes.Fields(buf[:runtime.Stack(buf[:], false)]) // goroutine 18 [running]:
	id, err := strconv.ParseInt(string(fields[1]), 10, 64)
	if err != nil {
		panic(fmt.Sprintf("osthread: no goroutine number in %q", buf[:]))
	}
	return id
}

// IsMain is false: the runtimes of other systems can end their main thread's goroutine like any other.
func IsMain() bool { return false }

// SetName does nothing.
func SetName(string) error { return nil }

// SetNice is not possible here.
func SetNice(int) error {
	return fmt.Errorf("nice values per thread on %s: %w", runtime.GOOS, errors.ErrUnsupported)
}

// Yield gives way to other goroutines; there is no portable call for threads.
func Yield() { runtime.Gosched() }

// Gone is true: whether a thread still exists cannot be asked.
func Gone(int64) bool { return true }
