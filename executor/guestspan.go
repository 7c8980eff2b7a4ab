//go:build !modelcheck

package executor

import (
	"math"
	"runtime"
	"time"

	"github.com/magpie-go/magpie/internal/xatomic"
)

const (
	// callerSpan is how long a guest is brief or quiet: about as long as it takes to wake a thread. With BriefCallers a
	// longer run goes on without the guest, on the workers' own threads.
	callerSpan = 100 * time.Microsecond

	// quietSpan bounds the runs whose guests may be quiet: where a run without a quiet guest typically takes longer, no
	// guest is quiet.
	quietSpan = callerSpan / 2

	// withheldSpan bounds what is withheld: where a Group or Async that tells a worker of its functions at once
	// typically takes longer, none is. It is a few times as long as it takes to wake the threads.
	withheldSpan = 5 * callerSpan

	// quietTick is the time between two ticks of the clock of quiet guests. An item that a quiet guest has pushed,
	// while its task waits for that item, waits for one to two ticks.
	quietTick = 5 * time.Millisecond

	// keepSpan is how long at least a caller that has left after more than callerSpan is expected back, and half of how
	// long at most. With two clients that were back after 50 µs as a rule, less than half of that span left
	// 13 % of their runs without a place, and twice the span no fewer than this one (Xeon, 2026-11-30).
	keepSpan = 500 * time.Microsecond

	// maxRest is how many guests in a row that have stayed longer make the rest of brief callers longer. The first such
	// guest keeps others from coming for as long as it has stayed, since it may only have lost its core. The next keeps them
	// away for twice as long as it has stayed, and so on.
	maxRest = 6
)

// mayCome reports whether a guest may come.
func (g *guests) mayCome() bool {
	barred := g.barred.Load()
	if barred == 0 {
		return true
	}
	if nanotime() < barred {
		return false
	}
	g.barred.CompareAndSwap(barred, 0) // those that come later need not look at the clock
	return true
}

// note is called when the guest of t leaves, and returns the time.
func (g *guests) note(t trial) (left int64) {
	if t.stay == 0 { // a task has called Goexit
		t.stay = g.taken(t)
	}
	left = t.since + t.stay
	switch {
	case g.stays:
		if g.isLong(t.stay) {
			g.returns.left(left)
		}
	case t.stay > 2*int64(callerSpan):
		late := g.late.Load()
		g.late.Store(min(late+1, maxRest))
		g.barred.Store(max(left+t.stay<<late, g.barred.Load()))
	case g.late.Load() != 0:
		g.late.Store(0)
	}
	return left
}

// begin notes when the guest of w came.
func (g *guest) begin(w *Worker) {
	g.begun = w.counts.items - w.counts.overhead
	g.look = w.counts.items + 2 // not before its first item
	g.since = nanotime()
}

// hurry has the guest look at the clock before its next item, which took time to find.
func (g *guest) hurry() {
	if g.look != noLook {
		g.look = 0
	}
}

// lookAtClock reports whether the guest has been here for callerSpan. It looks at the clock before item 2, 4, 8 …, and
// then at each poll, so that clocks cost little where items are short.
func (g *guest) lookAtClock(w *Worker) bool {
	if w.counts.items < g.look {
		return false
	}
	if n := w.counts.items - w.counts.overhead - g.begun; n < pollInterval {
		g.look = w.counts.items + n
	} else {
		g.look = (w.counts.items/pollInterval + 1) * pollInterval
		g.continues()
	}
	return nanotime()-g.since >= int64(callerSpan)
}

// number returns a number that no other guest of w near in time has, and is not 0, nor is it when shifted by a bit.
func (g *guest) number(*Worker) uint32 { return uint32(g.since) | 1 }

// letOthersRun offers the P of the caller that was the guest of t, after a long time. A caller that does one run after
// the other would otherwise keep its P from goroutines and timers until the runtime preempts it: up to 10 ms.
func (g *guests) letOthersRun(t trial) {
	if t.stay > 2*int64(callerSpan) {
		runtime.Gosched()
	}
}

// now returns the time at which a trial begins.
func (*guests) now() int64 { return nanotime() }

// taken returns the time since t began.
func (*guests) taken(t trial) int64 { return nanotime() - t.since }

// isLate reports whether t began before the last tick of the clock.
func (g *guests) isLate(t trial) bool { return g.taken(t) >= int64(quietTick) }

// A quietClock calls tick again and again.
type quietClock struct{ timer *time.Timer }

// set sets the clock, which is idle.
func (c *quietClock) set(ex *executor) {
	if c.timer == nil {
		// Not quietTick: the function, which reads c.timer, could be called before the assignment.
		c.timer = time.AfterFunc(math.MaxInt64, func() {
			if !ex.stop.Load() && ex.tick() {
				c.timer.Reset(quietTick)
			}
		})
	}
	c.timer.Reset(quietTick)
}

// timeSlot returns the slot of time that now is in, see expectation.
func timeSlot(now int64) int64 { return now / int64(keepSpan) }

// longSlots is for how many slots after a long run callers can be a crowd. It is a few times as long as the clock of
// quiet guests lets one be quiet.
const longSlots = 4 * int64(quietTick/keepSpan)

// isLong reports whether a caller that has stayed or waited for so long is expected back.
func (*guests) isLong(span int64) bool { return span > int64(callerSpan) }

// mayKeep reports whether a wake-up may be put off: none was put off quietTick ago, or more, and not made up for since.
func (e *returns) mayKeep(now int64) bool {
	kept := e.kept.Load()
	if kept == 0 {
		e.kept.Store(now)
	}
	return kept == 0 || now-kept < int64(quietTick)
}

// A returnClock calls noReturn when keepSpan has passed since it was set. While it is set, others need not set it.
type returnClock struct {
	isSet xatomic.Uint32 // 1 while it is set
	timer *time.Timer
}

func (c *returnClock) init(ex *executor) {
	c.timer = time.AfterFunc(math.MaxInt64, func() {
		c.isSet.Store(0)
		ex.noReturn()
	})
	c.timer.Stop()
}

func (c *returnClock) set() {
	if c.isSet.CompareAndSwap(0, 1) {
		c.timer.Reset(keepSpan)
	}
}
