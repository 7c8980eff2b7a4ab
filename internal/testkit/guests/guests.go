// Package guests lets tests keep callers idle that need the workers' own threads: their tasks call runtime.Goexit,
// which ends a caller that takes part, or they look at threads, labels or the workers' counters. With
// MAGPIE_CALLERS=idle all tests do so that ask Callers.
package guests

import (
	"os"
	"strings"
	"sync"
	"testing"
)

var idle sync.Map // the names of tests that have called None

// None keeps callers idle in executors that the test and its subtests make from then on.
func None(t testing.TB) { idle.Store(t.Name(), true) }

// Callers returns what an executor of the test does with callers, which its configuration says with given: idle, if
// given is zero and the test or one around it has called None or MAGPIE_CALLERS is idle.
func Callers[C comparable](t testing.TB, given, idle C) C {
	var auto C
	if given == auto && (os.Getenv("MAGPIE_CALLERS") == "idle" || isIdle(t.Name())) {
		return idle
	}
	return given
}

func isIdle(name string) bool {
	for {
		if _, ok := idle.Load(name); ok {
			return true
		}
		i := strings.LastIndexByte(name, '/')
		if i < 0 {
			return false
		}
		name = name[:i]
	}
}
