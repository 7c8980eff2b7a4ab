package executor

import "github.com/magpie-go/magpie/internal/xatomic"

// Where as many callers as workers have runs of milliseconds, each does best to run its own. But between two runs a
// caller is away for a moment, to give its answer and to take the next request. A thread that was woken for its place
// meanwhile, to help the other callers, would be there for long: the caller would come back, find no place, wait for
// threads to run what it brings, and have others woken for its place when that ends.
//
// So callers are a crowd if there are as many as workers: in their places, waiting for one, or expected back. A guest
// that comes in a crowd is quiet, and its lane is hushed from the beginning. The place of a caller that leaves a crowd
// after a long run is kept for it, for keepSpan to twice that: nobody is woken for what lies in lanes. A thread that is
// awake finds nothing in the lanes of guests, and goes to sleep.
//
// Only callers that stay can be a crowd, see BusyCallers.

// returns are the callers that are expected back, and others that make a crowd. Any thread.
type returns struct {
	word    xatomic.Uint64 // an expectation
	waiting xatomic.Int32  // callers that have found no place, and wait for the end of a run
	crowded xatomic.Int32  // guests that are quiet because of a crowd
	// kept is the time of the first wake-up that was put off and not made up for since, or 0.
	kept  xatomic.Int64
	clock returnClock
}

// An expectation counts the callers that have left in a slot of time, and in the slot before, and are expected back.
// So each is expected for one slot to two, whatever others do. The lowest 8 bits are the count of the slot, the next 8
// that of the slot before, and the others are the number of the slot. Before the first caller leaves, all are 0.
type expectation uint64

const (
	slotShift = 16
	mostThere = 1<<8 - 1
)

func (x expectation) slot() int64 { return int64(x >> slotShift) }

// at returns the counts of the slot of now, and of the slot before. If other threads are in a later slot, that counts.
func (x expectation) at(now int64) (this, before uint64) {
	this, before = uint64(x&mostThere), uint64(x>>8&mostThere)
	switch late := timeSlot(now) - x.slot(); {
	case late <= 0:
		return this, before
	case late == 1:
		return 0, this
	}
	return 0, 0
}

// with returns x with such counts for the slot of now, and for the slot before.
func (x expectation) with(now int64, this, before uint64) expectation {
	return expectation(max(timeSlot(now), x.slot()))<<slotShift | expectation(before<<8|this)
}

// left notes that a caller has left now, after a long run or a long wait.
func (e *returns) left(now int64) {
	for {
		word := e.word.Load()
		x := expectation(word)
		this, before := x.at(now)
		if e.word.CompareAndSwap(word, uint64(x.with(now, min(this+1, mostThere), before))) {
			return
		}
	}
}

// came notes that a caller has come: if any is expected, one of those that left last. Otherwise those that have left
// before, and do not come back, would be expected as long as others do. A caller with short runs counts too: it does
// not say which it is.
func (e *returns) came(now int64) {
	for {
		word := e.word.Load()
		x := expectation(word)
		this, before := x.at(now)
		switch {
		case this > 0:
			this--
		case before > 0:
			before--
		default:
			return
		}
		if e.word.CompareAndSwap(word, uint64(x.with(now, this, before))) {
			return
		}
	}
}

// expected returns how many callers are expected back.
func (e *returns) expected(now int64) int {
	this, before := expectation(e.word.Load()).at(now)
	return int(this + before)
}

// areLong reports whether a caller has left lately after a long run or wait. Where all runs are short there is no
// crowd, and no caller need look for one.
func (e *returns) areLong(now int64) bool {
	word := e.word.Load()
	return word != 0 && timeSlot(now)-expectation(word).slot() < longSlots
}

// isCrowd reports whether callers are a crowd, and whether it takes callers that are expected back. A caller in
// Blocking has no place: others run items instead. A caller that waits stands for a thread that runs items, perhaps its
// own: those of its run may be in Blocking too.
func (ex *executor) isCrowd(now int64) (crowd, expects bool) {
	e := &ex.guests.returns
	if !e.areLong(now) || ex.cfg.Workers == 1 {
		return false, false
	}
	missing, waiting, expected := 0, e.waiting.Load(), e.expected(now)
	for _, w := range ex.roster[:ex.cfg.Workers] {
		switch state := WorkerState(w.seen.state.Load()); {
		case w.thread.isLent() && state != WorkerBlocked:
		case waiting > 0 && state == WorkerRunning:
			waiting--
		default:
			if missing++; missing > expected {
				return false, false
			}
		}
	}
	return true, missing > 0
}

// joinCrowd is called when the guest has come. It makes the guest quiet if callers are a crowd.
func (g *guest) joinCrowd() {
	ex := executorOf(g.w.core)
	crowd, expects := ex.isCrowd(g.since)
	if !crowd || !g.w.lane.IsDirect() {
		return
	}
	g.quiet, g.crowded = true, true
	ex.guests.quiets.hush(g.w)
	if expects {
		ex.guests.returns.clock.set()
	}
}

// crowdPolls is after how many polls a guest of a crowd asks again whether there is one: it looks at each worker.
const crowdPolls = 16

// putsOff is called when a guest has left. It reports whether the wake-ups that its worker has missed for what lies in
// lanes are put off, since callers are a crowd. If they are none, it ends the quiet of guests that came in one.
//
// D6(keep): return the worker, then set the clock. Pairs with D6(noReturn). Callers that leave one after the other put
// wake-ups off for quietTick at most.
func (ex *executor) putsOff(now int64) bool {
	e := &ex.guests.returns
	crowd, expects := ex.isCrowd(now)
	if expects {
		e.clock.set()
		if e.mayKeep(now) && ex.injector.isEmpty() {
			return true
		}
	}
	if e.kept.Load() != 0 {
		e.kept.Store(0)
	}
	if !crowd {
		ex.endCrowd()
	}
	return false
}

// noReturn is called by the clock, and makes up for wake-ups that were put off, unless a caller is still expected back.
//
// D6(noReturn): the clock is no longer set, then look for items. Pairs with D6(keep). If no worker sleeps by now, each
// that works makes up for the wake-ups: as a guest when it leaves, as a thread when it looks for work.
func (ex *executor) noReturn() {
	if ex.stop.Load() {
		return
	}
	now := ex.guests.now()
	crowd, expects := ex.isCrowd(now)
	switch {
	case expects:
		ex.guests.returns.clock.set()
	case !crowd:
		ex.guests.returns.kept.Store(0)
		ex.endCrowd()
		ex.makeUp()
	}
}

// endCrowd ends the quiet of guests that are quiet because of a crowd.
func (ex *executor) endCrowd() {
	if ex.guests.returns.crowded.Load() == 0 {
		return
	}
	for _, w := range ex.roster[:ex.cfg.Workers] {
		if by := w.lane.HushedBy(); by&inCrowd != 0 {
			ex.unhush(w, by)
		}
	}
}
