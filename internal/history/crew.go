package history

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/magpie-go/magpie/internal/osthread"
	"github.com/magpie-go/magpie/internal/testkit"
)

// A Clock gives times: numbers from 1 on, no two of them equal. The zero Clock is ready.
type Clock struct{ last atomic.Int64 }

// Now returns a time later than every time returned before. Any thread.
func (c *Clock) Now() int64 { return c.last.Add(1) }

// A Crew is a group of threads that do something at the same time, over and over.
type Crew struct {
	t       testing.TB
	work    []chan func(thread int)
	arrived atomic.Int64
	plays   int
}

// NewCrew starts a crew, which ends with the test.
func NewCrew(t testing.TB, threads int) *Crew {
	t.Helper()
	procs := runtime.GOMAXPROCS(0)
	runtime.GOMAXPROCS(max(procs, threads+1)) // no thread waits for a P: the system decides which runs
	dawdle(true)
	c := &Crew{t: t}
	var ended sync.WaitGroup
	for thread := range threads {
		work := make(chan func(int))
		c.work = append(c.work, work)
		ended.Go(func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			for f := range work {
				f(thread)
			}
		})
	}
	t.Cleanup(func() {
		for _, work := range c.work {
			close(work)
		}
		ended.Wait()
		dawdle(false)
		runtime.GOMAXPROCS(procs)
	})
	return c
}

// Play makes every thread play every round. No thread begins a round before all have finished the round before, and all
// begin it as nearly at once as possible. Play returns when all rounds are over.
func (c *Crew) Play(rounds int, play func(thread, round int)) {
	c.t.Helper()
	c.arrived.Store(0)
	c.plays++ // the threads that share a core change from play to play
	var done sync.WaitGroup
	done.Add(len(c.work))
	for _, work := range c.work {
		work <- func(thread int) {
			defer done.Done()
			defer pin((thread + c.plays) % len(c.work))()
			for r := range rounds {
				c.meet(int64(len(c.work)) * int64(r+1))
				play(thread, r)
			}
		}
	}
	testkit.Within(c.t, testkit.Patience, done.Wait)
}

// meet waits until all threads have arrived, which is when arrived has reached all.
func (c *Crew) meet(all int64) {
	// Threads in a tight loop see the last arrival within nanoseconds of each other. A thread that loops for long may
	// keep the last one from its core. The limit is some microseconds: with a tenth of it, 32-bit code, which plays
	// faster than it wakes, hardly ever overlaps. A yield to busy threads of other programs costs their turns: a thread
	// that has yielded for long sleeps.
	const looks, yields = 5000, 100
	c.arrived.Add(1)
	for n := 0; c.arrived.Load() < all; n++ {
		switch {
		case n >= looks+yields:
			time.Sleep(20 * time.Microsecond)
		case n >= looks:
			osthread.Yield()
		}
	}
}

// Pause lets some time pass between two calls: none, a few nanoseconds to a microsecond, or a turn of another thread on
// the core. The 32 random bits in dice decide.
func Pause(dice uint32) {
	switch dice % 16 {
	case 0:
		osthread.Yield()
	case 1, 2, 3, 4:
		for range dice >> 4 % 256 {
			pausing.Load()
		}
	}
}

var pausing atomic.Int32
