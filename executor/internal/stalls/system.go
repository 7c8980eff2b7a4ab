package stalls

import (
	"runtime/metrics"
	"time"

	"github.com/magpie-go/magpie/internal/osthread"
)

// system is what the watches ask. Tests replace it.
var system = struct {
	tells    bool                               // a thread can tell what another one does
	used     func(Worker) (time.Duration, bool) // the processor time of a worker's thread
	asleep   func(int64) (is, known bool)       // the thread sleeps in the kernel
	runnable func() uint64                      // how many goroutines wait for a P
	process  func() time.Duration               // the processor time of the process
	now      func() time.Time
}{osthread.TellsAsleep, used, osthread.Asleep, runnable, osthread.ProcessCPU, time.Now}

// used returns the processor time of the worker's thread or, where no thread can tell, a number that changes when the
// worker tells that items have ended.
func used(w Worker) (time.Duration, bool) {
	if !osthread.TellsAsleep {
		return time.Duration(w.Ended), true
	}
	used, err := osthread.CPU(w.Thread)
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
