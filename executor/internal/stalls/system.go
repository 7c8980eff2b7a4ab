package stalls

import (
	"runtime/metrics"
	"time"

	"github.com/magpie-go/magpie/internal/osthread"
)

// system is what the watches ask. Tests replace it.
var system = struct {
	used     func(thread int64) (time.Duration, bool) // the processor time of a thread
	asleep   func(thread int64) bool                  // the thread sleeps in the kernel
	runnable func() uint64                            // how many goroutines wait for a P
}{used, osthread.Asleep, runnable}

func used(thread int64) (time.Duration, bool) {
	used, err := osthread.CPU(thread)
	return used, err == nil
}

// runnable costs a tenth of a microsecond, and stops nothing.
func runnable() uint64 {
	s := [1]metrics.Sample{{Name: "/sched/goroutines/runnable:goroutines"}}
	metrics.Read(s[:])
	if s[0].Value.Kind() != metrics.KindUint64 {
		return 1 // a runtime that does not tell: a thread has to sleep for long
	}
	return s[0].Value.Uint64()
}
