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
	begin       time.Time
	over        atomic.Bool // the game is over: all rallies were played, or they took too long
}

// A side is written by one thread and read by the other.
type side struct {
	number atomic.Int64
	_      pad.Line
}

const (
	rallies    = 15
	rallyTurns = 64
	// gameLimit is how long the game takes at most. Threads that share a core take milliseconds for a pass.
	gameLimit = 20 * time.Millisecond
)

// serve returns the median time of a pass in ns, over some rallies. Another thread must call answer. If the game takes
// too long, the time is the mean of the passes until then.
func (b *ball) serve() float64 {
	defer b.over.Store(true)
	b.begin = time.Now()
	var times []time.Duration
	for rally := range rallies {
		begin := time.Now()
		for turn := range rallyTurns {
			number := int64(rally*rallyTurns + turn + 1)
			b.there.number.Store(number)
			if !b.await(&b.back, number, func() bool { return time.Since(b.begin) > gameLimit }) {
				return float64(time.Since(b.begin).Nanoseconds()) / float64(2*number-1)
			}
		}
		times = append(times, time.Since(begin))
	}
	slices.Sort(times)
	return float64(times[rallies/2].Nanoseconds()) / rallyTurns / 2
}

// answer returns what serve serves, until the game is over.
func (b *ball) answer() {
	for number := int64(1); b.await(&b.there, number, b.over.Load); number++ {
		b.back.number.Store(number)
	}
}

// await waits until the ball with that number is at s, or until ends. It reports whether the ball is there.
func (b *ball) await(s *side, number int64, ends func() bool) bool {
	for spins := 1; s.number.Load() < number; spins++ {
		if spins%1024 == 0 {
			if ends() {
				return false
			}
			osthread.Yield() // the other thread may have no core
		}
	}
	return true
}
