// Package guests lets tests keep callers idle that need the workers' own threads: their tasks call runtime.Goexit,
// which ends a caller that takes part, or they look at threads, labels or the workers' counters. With
// MAGPIE_CALLERS=idle all tests that make their executors by New do so.
package guests

import (
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/magpie-go/magpie/executor"
)

var idle sync.Map // the names of tests that have called None

// None keeps callers idle in executors that the test and its subtests make from then on.
func None(t testing.TB) { idle.Store(t.Name(), true) }

// New is executor.New with idle callers, unless cfg says something about them, if the test or one around it has called
// None or MAGPIE_CALLERS is idle.
func New(t testing.TB, cfg executor.Config) (*executor.Executor, error) {
	if cfg.Callers == executor.AutoCallers && (os.Getenv("MAGPIE_CALLERS") == "idle" || isIdle(t.Name())) {
		cfg.Callers = executor.IdleCallers
	}
	return executor.New(cfg)
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
