//go:build magpie_chaos && !modelcheck

package xatomic

import (
	"math/rand/v2"
	"runtime"
	"sync/atomic"
	"time"
	"unsafe"
)

// Under the build tag magpie_chaos a thread now and then dawdles after an atomic step: at the points where, by the
// rules of the protocols, any other thread may come in between.

type kind uint8

const (
	load kind = iota
	store
	update
)

func before(kind, unsafe.Pointer) {}
func read(unsafe.Pointer)         {}
func write(unsafe.Pointer)        {}

func after(kind, unsafe.Pointer) {
	if limit := dawdling.Load(); limit != 0 && rand.Uint32() < limit {
		dawdle()
	}
}

// dawdling is the share of steps after which a thread dawdles, in units of 1/2³².
var dawdling atomic.Uint32

// Dawdle makes threads dawdle after one in n atomic steps, n at least 2, or never if n is 0. Any thread.
func Dawdle(n uint32) {
	if n == 0 {
		dawdling.Store(0)
		return
	}
	dawdling.Store(uint32(1 << 32 / uint64(n)))
}

// dawdle loses some time. Mostly the time is too short to leave the core, so that a step on another core comes in
// between. Sometimes the goroutine's P or the core is lost as well.
func dawdle() {
	switch r := rand.Uint32(); {
	case r%8 == 0:
		runtime.Gosched() // a locked goroutine hands its P over and waits for it
	case r%64 == 1:
		time.Sleep(50 * time.Microsecond)
	default:
		for range r >> 8 % 2048 {
			spun.Load() // a load that cannot be optimized away, so that the loop stays
		}
	}
}

var spun atomic.Uint32
