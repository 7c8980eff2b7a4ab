package host

import (
	"github.com/magpie-go/magpie/deque"
	"github.com/magpie-go/magpie/executor/internal/hosting"
	"github.com/magpie-go/magpie/executor/internal/share"
	"github.com/magpie-go/magpie/internal/park"
	"github.com/magpie-go/magpie/internal/xatomic"
)

// A sharer is a worker's part in sharing the machine. It implements hosting.Sharer.
type sharer struct {
	of      *sharing
	id      int // the worker's
	w       hosting.Worker
	control *share.Control
	met     int  // a worker that the thief has met, and that rests; nobody if there is none
	rests   bool // the worker is to rest, once it has ceased to be a thief
	parker  park.LongParker

	// Written by the worker, read when a cycle ends.
	attempts xatomic.Tell64 // to steal
	pure     xatomic.Tell64 // those whose victim was looking for work itself
	past     xatomic.Tell64 // nanoseconds awake before since
	since    xatomic.Tell64 // when the worker woke, 0 while it is not awake
}

// nobody is no worker.
const nobody = -1

// NewSharer implements hosting.Sharing.
func (s *sharing) NewSharer(i int, w hosting.Worker) hosting.Sharer {
	m := &sharer{of: s, id: i, w: w, control: &s.control, met: nobody}
	s.members[i].Store(m)
	return m
}

// CountAwake implements hosting.Sharer.
func (s *sharer) CountAwake() {
	s.since.Store(uint64(nanotime()))
	s.control.CountAwake()
}

// CountAsleep implements hosting.Sharer.
func (s *sharer) CountAsleep(able bool) {
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

// Rest implements hosting.Sharer.
func (s *sharer) Rest() {
	if s.w.Blocks() {
		return
	}
	s.w.BringForward()
	s.w.Rest(func() {
		if s.control.Rest(s.id, true) {
			s.park()
		}
	})
}

// park sleeps until the control wakes the worker.
func (s *sharer) park() {
	s.stopClock()
	s.w.Publish()
	s.parker.Park()
	s.since.Store(uint64(nanotime()))
}

// Meet implements hosting.Sharer.
func (s *sharer) Meet(victim int) bool {
	if !s.control.HasLeftWork(victim) {
		return false
	}
	s.met = victim
	return true
}

// Leave implements hosting.Sharer.
func (s *sharer) Leave() bool {
	met := s.met
	s.met = nobody
	s.rests = met != nobody && s.control.Swap(s.id, met) || s.control.Wanted() && s.control.Rest(s.id, false)
	return s.rests
}

// StandBy implements hosting.Sharer.
func (s *sharer) StandBy() bool {
	if !s.rests {
		return false
	}
	s.rests = false
	s.w.Rest(s.park)
	return true
}

// Tried implements hosting.Sharer. An attempt that finds nothing is purely unsuccessful if the victim is looking for
// work itself. It is not counted if the victim is not awake: document 003 draws no such victim.
func (s *sharer) Tried(victim int, outcome deque.Outcome) {
	if outcome == deque.Empty {
		switch v := s.of.members[victim].Load().w; {
		case v.Looking():
			s.pure.Store(s.pure.Load() + 1)
		case !v.Running():
			return
		}
	}
	s.attempts.Store(s.attempts.Load() + 1)
}
