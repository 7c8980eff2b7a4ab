package executor

import (
	"github.com/magpie-go/magpie/deque"
	"github.com/magpie-go/magpie/internal/osthread"
)

// steal takes one of the oldest items of a victim's, of those that are to steal.
func (w *Worker) steal(victim *Worker) (*Item, deque.Outcome) {
	it, outcome := victim.lane.Steal()
	w.countSteal(outcome)
	return it, outcome
}

// stealMany is steal for a worker that is free: if Config.Steal says so, it takes several items at once. The first it
// returns; the others are its own from then on.
func (w *Worker) stealMany(victim *Worker) (*Item, deque.Outcome) {
	it, rest, outcome := w.lane.StealFrom(&victim.lane)
	w.countSteal(outcome)
	// Nobody is woken for them: the worker is a thief, and looks for more itself when it ceases to be one.
	for _, it := range rest {
		if it.Body.forks {
			// A fork's joiner may need it before the worker comes to it: in the injector the joiner finds it
			// (retrieve).
			w.ex.inject(it)
			continue
		}
		it.Body.owner().visit(w)
		w.put(it)
	}
	clear(rest)
	return it, outcome
}

// receive waits a bounded time for an item that another worker deals out, if the lane is made for that.
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

// lose is called after a lost steal. Somebody else has the item then, or the owner is making the ring larger: that lasts
// until the owner gets on, and it may be waiting for this very core.
func (w *Worker) lose() {
	if w.losses++; w.losses%politeLosses == 0 {
		osthread.Yield()
	}
}
