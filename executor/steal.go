package executor

import (
	"github.com/magpie-go/magpie/deque"
	"github.com/magpie-go/magpie/internal/osthread"
)

// steal takes one of the oldest items in the victim's lane that thieves see.
func (s *search) steal(victim *Worker) (*Item, deque.Outcome) {
	it, outcome := victim.lane.Steal()
	s.countSteal(outcome)
	if outcome == deque.Stolen {
		s.w.core.attached.tellStole(s.w, victim, 1)
	}
	return it, outcome
}

// stealMany takes one of the oldest items in the victim's lane that thieves see or, if Config.Steal says so, several at
// once. It returns the first and puts the others into its own lane. The worker is in no wait.
func (s *search) stealMany(victim *Worker) (*Item, deque.Outcome) {
	w := s.w
	it, rest, outcome := w.lane.StealFrom(&victim.lane)
	s.countSteal(outcome)
	for _, it := range rest {
		s.keep(it)
	}
	if outcome == deque.Stolen {
		w.core.attached.tellStole(w, victim, 1+len(rest))
	}
	clear(rest)
	return it, outcome
}

// keep makes an item that the worker has stolen, and does not run at once, available again.
func (s *search) keep(it *Item) {
	w := s.w
	if it.Body.single {
		// The task that waits for the item may need it before this worker comes to it. In the injector it finds the item.
		w.core.inject(it)
		return
	}
	it.Body.owner().visit(w)
	// Most policies wake no worker for it: a thief looks for more when it ceases to be one.
	w.tell(w.put(it))
}

// receive waits a bounded time for an item that another worker deals out, if the lane is of a kind that receives.
func (s *search) receive() (*Item, deque.Outcome) {
	w := s.w
	if !w.lane.CanReceive() || w.lane.IsAlone() {
		return nil, deque.Empty
	}
	it, outcome := w.lane.Receive()
	s.countSteal(outcome)
	if outcome == deque.Stolen {
		w.core.attached.tellStole(w, nil, 1)
	}
	return it, outcome
}

// popElsewhere is the rest of pop, for a worker in no wait whose lane is empty.
//
//go:noinline
func (s *search) popElsewhere() (it *Item) {
	w := s.w
	it = w.core.attached.takeHeld(w, nil, nil)
	if it == nil && s.refills && !w.core.injector.isEmpty() && !w.spare.isSurplus() {
		it, _ = s.takeSubmitted()
	}
	return it
}

// takeSubmitted takes the oldest item of the injector, of the highest priority at most takes.
func (s *search) takeSubmitted() (*Item, deque.Outcome) {
	s.takes++
	it, outcome := s.w.core.injector.steal(s.takes)
	if outcome == deque.Lost {
		s.lose()
	}
	return it, outcome
}

// nextSubmitted takes the oldest item of that priority from the injector, for a worker that is about to sleep: after a
// lost steal it tries again, since the worker must not sleep while the next item is one that it waits for.
func (s *search) nextSubmitted(p Priority) *Item {
	for {
		it, outcome := s.w.core.injector.of(p).Steal()
		if outcome != deque.Lost {
			return it
		}
		s.lose()
	}
}

func (s *search) countSteal(outcome deque.Outcome) {
	counts := &s.w.counts
	counts.tried++
	switch outcome {
	case deque.Stolen:
		counts.won++
	case deque.Lost:
		counts.lost++
		s.lose()
	}
}

// lose is called after a lost steal: another thread has taken the item, or the owner is making the ring larger. The
// latter lasts until the owner runs, and the owner may be waiting for this very core.
func (s *search) lose() {
	if s.losses++; s.losses%politeLosses == 0 && s.yieldsWhenLost() {
		osthread.Yield()
	}
}

// yieldsWhenLost reports whether lost steals make the worker yield. With Config.Verbatim they do not, except where a
// lost steal is tried again at once: in waits, and under a policy that does so.
func (s *search) yieldsWhenLost() bool {
	return !s.w.core.verbatim || s.w.core.retries || s.w.waits.run != nil
}
