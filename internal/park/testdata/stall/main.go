// Stall stops the world again and again while threads go to sleep on futexes, as a locked goroutine does in any long
// system call. With Go 1.26.8 on two cores that have other work too, it stops for a minute within a minute or two.
//
//	go run ./internal/park/testdata/stall              a stop takes a minute now and then
//	go run ./internal/park/testdata/stall -timer 10ms  and some tens of milliseconds at most, if a timer is due
package main

import (
	"flag"
	"fmt"
	"runtime"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"
)

const (
	threads = 3
	wait    = 128 | 0 // FUTEX_WAIT_PRIVATE
	wake    = 128 | 1
)

var (
	words [threads]uint32 // 1: the thread sleeps or is about to sleep
	step  = flag.Duration("timer", 0, "the interval of a timer; 0 for none")
	last  = flag.Duration("for", 3*time.Minute, "how long to go on")
)

func futex(word *uint32, operation, value uintptr) {
	syscall.Syscall6(syscall.SYS_FUTEX, uintptr(unsafe.Pointer(word)), operation, value, 0, 0, 0)
}

func main() {
	flag.Parse()
	runtime.GOMAXPROCS(2 * threads)
	for i := range words {
		go func() {
			runtime.LockOSThread()
			for {
				atomic.StoreUint32(&words[i], 1)
				futex(&words[i], wait, 1)
			}
		}()
	}
	if *step > 0 {
		var timer *time.Timer
		timer = time.AfterFunc(time.Hour, func() { timer.Reset(*step) })
		timer.Reset(*step)
	}
	var stats runtime.MemStats
	var worst time.Duration
	for begin, round := time.Now(), 0; time.Since(begin) < *last; round++ {
		for i := range words {
			atomic.StoreUint32(&words[i], 0)
			futex(&words[i], wake, 1)
		}
		for range round % 4000 { // the threads are on their way to sleep again
			_ = atomic.LoadUint32(&words[0])
		}
		stop := time.Now()
		runtime.ReadMemStats(&stats)
		if took := time.Since(stop); took > worst {
			worst = took
			fmt.Printf("round %d: the world was stopped for %v\n", round, took)
		}
	}
}
