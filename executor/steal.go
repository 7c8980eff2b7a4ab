package executor

import (
	"github.com/magpie-go/magpie/deque"
	"github.com/magpie-go/magpie/executor/internal/policy"
	"github.com/magpie-go/magpie/internal/osthread"
)

// steal takes one of the oldest items in the victim's lane that thieves see.
func (w *Worker) steal(victim *Worker) (*Item, deque.Outcome) {
	it, outcome := victim.lane.Steal()
	w.countSteal(outcome)
	return it, outcome
}

// stealMany is steal for a worker that is in no wait: if Config.Steal says so, it takes several items at once. It
// returns the first and puts the others into its own lane.
func (w *Worker) stealMany(victim *Worker) (*Item, deque.Outcome) {
	it, rest, outcome := w.lane.StealFrom(&victim.lane)
	w.countSteal(outcome)
	for _, it := range rest {
		if it.Body.forks {
			// The joiner of a fork may need it before this worker comes to it. In the injector the joiner finds it
			// (retrieve).
			w.ex.inject(it)
			continue
		}
		it.Body.owner().visit(w)
		// Most policies wake no worker for it: this worker is a thief, and looks for more when it ceases to be one.
		w.tell(w.put(it))
	}
	clear(rest)
	return it, outcome
}

// receive waits a bounded time for an item that another worker deals out, if the lane is of a kind that receives.
func (w *Worker) receive() (*Item, deque.Outcome) {
	if !w.lane.CanReceive() || w.lane.IsAlone() {
		return nil, deque.Empty
	}
	it, outcome := w.lane.Receive()
	w.countSteal(outcome)
	return it, outcome
}

// takeSubmitted takes the oldest item of the injector.
func (w *Worker) takeSubmitted() (*Item, deque.Outcome) {
	it, outcome := w.core.injector.steal()
	if outcome == deque.Lost {
		w.lose()
	}
	return it, outcome
}

// nextSubmitted is takeSubmitted for a worker that is about to sleep: after a lost steal it tries again, since the
// worker must not sleep while the next item is one that it waits for.
func (w *Worker) nextSubmitted() *Item {
	for {
		if it, outcome := w.takeSubmitted(); outcome != deque.Lost {
			return it
		}
	}
}

func (w *Worker) countSteal(outcome deque.Outcome) {
	w.counts.tried++
	switch outcome {
	case deque.Stolen:
		w.counts.won++
	case deque.Lost:
		w.counts.lost++
		w.lose()
	}
}

// lose is called after a lost steal: another thread has taken the item, or the owner is making the ring larger. The
// latter lasts until the owner runs, and the owner may be waiting for this very core.
func (w *Worker) lose() {
	if w.losses++; w.losses%politeLosses == 0 && w.yieldsWhenLost() {
		osthread.Yield()
	}
}

// yieldsWhenLost reports whether lost steals make the worker yield. With Config.Verbatim they do not, except where a
// lost steal is tried again at once: in waits, and under a policy that does so.
func (w *Worker) yieldsWhenLost() bool {
	cfg := &w.core.cfg
	return !cfg.Verbatim || policy.Table[cfg.Policy].Retries || w.waits.run != nil
}
