package executor

import (
	"github.com/magpie-go/magpie/deque"
	"github.com/magpie-go/magpie/executor/internal/share"
	"github.com/magpie-go/magpie/internal/park"
	"github.com/magpie-go/magpie/internal/xatomic"
)

// A sharer is a worker's part in sharing the machine. It is nil without Host.Share and Host.QuotaShare. Unless they
// say otherwise, its methods are the worker's only.
type sharer struct {
	w       *Worker
	control *share.Control
	met     *Worker // a worker that the thief has met, and that rests
	rests   bool    // the worker is to rest, once it has ceased to be a thief
	parker  park.LongParker

	// Written by the worker, read when a cycle ends.
	attempts xatomic.Tell64 // to steal
	pure     xatomic.Tell64 // those whose victim was looking for work itself
	past     xatomic.Tell64 // nanoseconds awake before since
	since    xatomic.Tell64 // when the worker woke, 0 while it is not awake
}

// newSharer returns the sharer of w; nil without Host.Share and Host.QuotaShare.
func newSharer(w *Worker) *sharer {
	if executorOf(w.core).sharing == nil {
		return nil
	}
	return &sharer{w: w, control: &executorOf(w.core).sharing.control}
}

// countAwake counts the worker as awake.
func (s *sharer) countAwake() {
	s.since.Store(uint64(nanotime()))
	s.control.CountAwake()
}

// countAsleep undoes countAwake. able says that the worker can be woken for any item.
func (s *sharer) countAsleep(able bool) {
	s.stopClock()
	s.control.CountAsleep(able)
}

func (s *sharer) stopClock() {
	s.past.Store(s.past.Load() + uint64(nanotime()) - s.since.Load())
	s.since.Store(0)
}

// awake returns for how many nanoseconds the worker has been awake. Any thread: the result may be off by the last
// interval.
func (s *sharer) awake(now int64) int64 {
	past := int64(s.past.Load())
	if since := int64(s.since.Load()); since != 0 {
		past += max(now-since, 0)
	}
	return past
}

// isWanted reports whether the worker is to call rest, because it is at a boundary.
func (s *sharer) isWanted() bool { return s != nil && s.control.Wanted() }

// rest puts the worker to rest in the middle of its work, if workers have to: at the beginning of an item, or at a Fork
// or Join. Others can take everything but what is on its stack.
func (s *sharer) rest() {
	w := s.w
	if w.waits.blocking {
		return
	}
	w.bringForward()
	w.asleep(&restSleep, func() {
		if s.control.Rest(w.id, true) {
			s.park()
		}
	})
}

// park sleeps until the control wakes the worker.
func (s *sharer) park() {
	s.stopClock()
	s.w.publishCounts()
	s.parker.Park()
	s.since.Store(uint64(nanotime()))
}

// meet reports whether a victim rests with work. The thief is to wake it and to rest in its place, rather than to
// steal from it (document 003, section 6.1).
func (s *sharer) meet(victim *Worker) bool {
	if !s.control.HasLeftWork(victim.id) {
		return false
	}
	s.met = victim
	return true
}

// leave tells a thief to rest: because it has met a worker that rests with work, or because workers have to. The thief
// then ceases to be one, and stands by.
func (s *sharer) leave() bool {
	met := s.met
	s.met = nil
	s.rests = met != nil && s.control.Swap(s.w.id, met.id) || s.control.Wanted() && s.control.Rest(s.w.id, false)
	return s.rests
}

// standBy rests if leave has said so, and reports whether it did.
func (s *sharer) standBy() bool {
	if !s.rests {
		return false
	}
	s.rests = false
	s.w.asleep(&restSleep, s.park)
	return true
}

// tried counts an attempt to steal. One that finds nothing is purely unsuccessful if the victim is looking for work
// itself. It is not counted if the victim is not awake: document 003 draws no such victim.
func (s *sharer) tried(victim *Worker, outcome deque.Outcome) {
	if outcome == deque.Empty {
		switch WorkerState(victim.seen.state.Load()) {
		case WorkerSearching, WorkerPreparing:
			s.pure.Store(s.pure.Load() + 1)
		case WorkerRunning:
		default:
			return
		}
	}
	s.attempts.Store(s.attempts.Load() + 1)
}

// runShared runs items on a worker that shares the machine. The worker may rest before each item. Otherwise it does as
// in runPolled or runPlain, whatever its lane is for.
func runShared(w *Worker, it *Item) {
	share := partsOf(w).share
	returned := false
	defer w.endLoop(w.inner.current, &returned)
	w.inner.current = it
	polled, wanted := w.lane.IsPolled(), share.control.Word()
	for it != nil {
		if it.Body != w.body {
			if it = w.enterAdmitted(it); it == nil {
				break
			}
		}
		if wanted.Load() {
			share.rest()
		}
		if polled && w.lane.Demand() {
			w.tell(w.lane.Poll())
		}
		if w.counts.items++; w.counts.items%pollInterval == 0 {
			if it = w.checkpoint(it); it == nil {
				break
			}
		}
		w.inner.current = it
		if it = it.Exec(w, it); it == nil {
			it = w.pop()
		}
	}
	returned = true
}
