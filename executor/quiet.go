package executor

import (
	"time"

	"github.com/magpie-go/magpie/internal/xatomic"
)

// A quiet guest wakes no worker for the items that it pushes, and runs them itself: its lane is hushed, and workers
// that look for work pass it by. Where a run takes ten microseconds, to wake a thread takes as long as the thread could
// save. Only a run that was quick before has a quiet guest, see tempo, or one that begins in a crowd, see returns.
//
// This time the run may be slow all the same. So the guest ceases to be quiet when one of its tasks blocks or waits, and
// after callerSpan. A task may also wait in a way that the executor does not see, for one that the guest has pushed.
// Therefore a clock ticks while there are quiet guests, and wakes a worker for each that has been quiet for a whole
// tick.
//
// Guests are quiet only where the lane is direct, as by default.

// quiets is the clock of an executor's quiet guests.
type quiets struct {
	state    xatomic.Uint32 // clockIdle, clockTicking or clockNeeded
	clock    quietClock
	unneeded int      // ticks since a guest needed one; of tick only
	seen     []uint32 // by worker, HushedBy of its lane at the last tick; of tick only

	ticked []func(*executor) // show what is withheld; constant
}

// States of the clock.
const (
	clockIdle    = iota // it is not set
	clockTicking        // no guest has hushed its lane since the last tick
	clockNeeded
)

// inCrowd is set in the number with which a guest has hushed its lane in a crowd.
const inCrowd = 1

// hush hushes the lane of w, whose guest has pushed an item and woken nobody, or will.
//
// D6(withhold): hush the lane, then look at state. Pairs with D6(tick). A clock that this guest has found clockNeeded
// looks at the lane after that, and a clock that it has found clockIdle it sets.
func (q *quiets) hush(w *Worker) {
	if g := guestOf(w); !g.hushed {
		g.hushed = true
		by := g.number(w) << 1
		if g.crowded {
			executorOf(w.core).guests.returns.crowded.Add(1) // first: endCrowd looks at it before it looks at the lane
			by |= inCrowd
		}
		w.lane.Hush(by)
	}
	q.need(executorOf(w.core))
}

// need has the clock tick, twice at least.
func (q *quiets) need(ex *executor) {
	if q.state.Load() != clockNeeded && q.state.Swap(clockNeeded) == clockIdle {
		q.clock.set(ex)
	}
}

// endHush undoes hush, if the guest has called it.
func (g *guest) endHush() {
	if g.hushed {
		g.hushed = false
		g.w.lane.Hush(0)
		if g.crowded {
			executorOf(g.w.core).guests.returns.crowded.Add(-1)
		}
	}
}

// tick wakes a worker for each guest that was quiet at the last tick and is quiet now. It reports whether the clock is
// to tick again.
//
// D6(tick): reset state, then look at the lanes. With the look first, it could miss a guest that has found clockNeeded,
// and stop.
func (ex *executor) tick() (again bool) {
	q := &ex.guests.quiets
	if q.state.CompareAndSwap(clockNeeded, clockTicking) {
		q.unneeded = 0
	} else if q.unneeded++; q.unneeded > maxUnneeded && q.state.CompareAndSwap(clockTicking, clockIdle) {
		return false
	}
	for _, show := range q.ticked {
		show(ex)
	}
	for i := range q.seen {
		by := ex.roster[i].lane.HushedBy()
		if by != 0 && by == q.seen[i] {
			ex.unhush(ex.roster[i], by)
		}
		q.seen[i] = by
	}
	return true
}

// unhush ends the hush of w's lane by that number, and wakes a worker for what is in the lane.
//
// D1(tick): end the hush, so that the guest speaks at its next push, then look for a thief, as the guest has not.
func (ex *executor) unhush(w *Worker, by uint32) {
	if w.lane.Unhush(by) && ex.policy.Thieves().Load() == 0 && w.lane.Ask() {
		ex.policy.Shown()
	}
}

// keepQuiet reports whether the guest wakes nobody for an item that it has pushed.
func (g *guest) keepQuiet() bool {
	w := g.w
	g.matters = true
	if !g.quiet {
		return false
	}
	// If the lane is no longer hushed, the clock has woken a worker.
	if w.core.sleepingHelpers.Load() > 0 || g.hushed && w.lane.HushedBy() == 0 {
		g.speak()
		return false
	}
	executorOf(w.core).guests.quiets.hush(w)
	return true
}

// speak ends the quiet of the worker's guest, if it has one, and wakes a worker for what it has pushed meanwhile. What
// is withheld beside its work is shown: the task that waits may wait for that.
func (g *guest) speak() {
	if b := g.burst; b != nil {
		g.burst = nil
		b.show()
	}
	w := g.w
	if !g.quiet {
		return
	}
	g.quiet = false
	if !g.hushed {
		return
	}
	g.endHush()
	// D1(push), later: the items are in the lane since before.
	if w.search.thieves.Load() == 0 && w.lane.Ask() {
		w.wakeFor(nil)
	}
}

// A trial is a run that a caller begins as a guest, or as a group, as tempo sees it.
type trial struct {
	since   int64 // nanotime when the guest came, or the first function
	stay    int64 // how long the guest stayed; 0 of a group, and while it is not known
	quietly bool  // the guest was quiet when it came, or the group withheld its functions
	crowded bool  // the guest was quiet because of a crowd
	matters bool  // the guest has woken a worker, or would have if it were not quiet
}

// A tempo says how long the runs of a body take if they have a quiet guest, and if they have another. It finds out by
// trying: which is quicker depends on the tasks, the machine and the other work on it. Any thread.
//
// The word has three fields: the typical time with a quiet guest, that with another, and a count of runs. The times are
// in units of 16 ns, and 0 if unknown. Two runs that end at the same time may lose an update.
type tempo struct{ word *xatomic.Uint64 }

const (
	tempoUnit = 16        // in ns
	tempoBits = 16        // of a time, and of the count
	tempoMax  = 1<<16 - 1 // a millisecond and more

	firstTrials = 8   // of so many runs at first, every other is quiet
	retrial     = 256 // the count of the run that is as others are not; after it the count is firstTrials again
)

// next says whether the guest of the run that begins now is quiet.
func (t tempo) next() bool { return t.nextWithin(quietSpan) }

// nextWithin is next for runs that may be quiet if loud ones typically take no longer than most.
func (t tempo) nextWithin(most time.Duration) bool {
	quiet, loud, count := t.load()
	switch {
	case loud == 0 || loud > int64(most)/tempoUnit:
		return false
	case quiet == 0 || count < firstTrials:
		return count%2 == 1
	}
	return (quiet <= loud) != (count == retrial)
}

// note adds a run that has taken so many nanoseconds.
func (t tempo) note(taken int64, wasQuiet bool) {
	quiet, loud, count := t.load()
	taken = min(max(taken/tempoUnit, 1), tempoMax)
	if wasQuiet {
		quiet = typical(quiet, taken)
	} else {
		loud = typical(loud, taken)
	}
	if count++; count > retrial {
		count = firstTrials
	}
	t.word.Store(uint64(quiet) | uint64(loud)<<tempoBits | uint64(count)<<(2*tempoBits))
}

func (t tempo) load() (quiet, loud, count int64) {
	word := t.word.Load()
	return int64(word & tempoMax), int64(word >> tempoBits & tempoMax), int64(word >> (2 * tempoBits))
}

// typical returns the typical time after one more of x. It falls fast and grows slowly: a run may have lost its core.
func typical(t, x int64) int64 {
	switch {
	case t == 0:
		return x
	case x < t:
		return (t + x) / 2
	}
	return t + (min(x, 2*t)-t+7)/8
}
