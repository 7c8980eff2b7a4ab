package bench

import (
	"slices"
	"sync/atomic"
	"time"

	"github.com/magpie-go/magpie/internal/osthread"
	"github.com/magpie-go/magpie/internal/pad"
)

// A ball goes back and forth between two threads, to measure how long a cache line takes from one core to the other: an
// owner cannot answer a thief sooner than in two of these times. A virtual machine's cores may be neighbours in one
// minute and on chips of their own in the next.
type ball struct {
	there, back side
	over        *atomic.Bool // ends the game early
}

// A side is written by one thread and read by the other.
type side struct {
	number atomic.Int64
	_      pad.Line
}

const (
	rallies    = 15
	rallyTurns = 64
)

// serve returns the median time of a pass in ns, over some rallies. Another thread must call answer.
func (b *ball) serve() float64 {
	var times []time.Duration
	for rally := range rallies {
		begin := time.Now()
		for turn := range rallyTurns {
			number := int64(rally*rallyTurns + turn + 1)
			b.there.number.Store(number)
			b.await(&b.back, number)
		}
		times = append(times, time.Since(begin))
	}
	slices.Sort(times)
	return float64(times[rallies/2].Nanoseconds()) / rallyTurns / 2
}

// answer answers each pass of serve.
func (b *ball) answer() {
	for number := int64(1); number <= rallies*rallyTurns; number++ {
		b.await(&b.there, number)
		b.back.number.Store(number)
	}
}

func (b *ball) await(s *side, number int64) {
	for spins := 1; s.number.Load() < number && !b.over.Load(); spins++ {
		if spins%1024 == 0 {
			osthread.Yield() // the other thread may have no core
		}
	}
}
