// Package guests has tests run with callers that take part, if MAGPIE_CALLERS=1, but for those that need the workers'
// own threads: their tasks call runtime.Goexit, which ends a caller that takes part, or they look at threads, labels or
// the workers' counters.
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

// New is executor.New. With MAGPIE_CALLERS=1, callers take part unless cfg does not allow it, or the test or one around
// it has called None.
func New(t testing.TB, cfg executor.Config) (*executor.Executor, error) {
	if os.Getenv("MAGPIE_CALLERS") == "1" && cfg.Callers == executor.IdleCallers && !isIdle(t.Name()) {
		with := cfg
		with.Callers = executor.BriefCallers
		if ex, err := executor.New(with); err == nil {
			return ex, nil
		}
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
