//go:build !modelcheck

package executor

import (
	"math"
	"runtime"
	"time"
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

// note is called when the guest of w leaves.
func (g *guests) note(w *Worker) {
	if g.stays {
		return
	}
	now := nanotime()
	if stay := now - guestOf(w).since; stay > 2*int64(callerSpan) {
		late := g.late.Load()
		g.late.Store(min(late+1, maxRest))
		g.barred.Store(max(now+stay<<late, g.barred.Load()))
	} else if g.late.Load() != 0 {
		g.late.Store(0)
	}
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

// number returns a number that no other guest of w has, and is not 0.
func (g *guest) number(*Worker) uint64 { return uint64(g.since) | 1 }

// letOthersRun offers the P of the caller that was the guest of t, after a long time. A caller that does one run after
// the other would otherwise keep its P from goroutines and timers until the runtime preempts it: up to 10 ms.
func (g *guests) letOthersRun(t trial) {
	if g.taken(t) > 2*int64(callerSpan) {
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
