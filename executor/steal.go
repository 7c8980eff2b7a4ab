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
	if outcome == deque.Stolen {
		w.tellStole(victim, 1)
	}
	return it, outcome
}

// stealMany takes one of the oldest items in the victim's lane that thieves see or, if Config.Steal says so, several at
// once. It returns the first and puts the others into its own lane. The worker is in no wait.
func (w *Worker) stealMany(victim *Worker) (*Item, deque.Outcome) {
	it, rest, outcome := w.lane.StealFrom(&victim.lane)
	w.countSteal(outcome)
	for _, it := range rest {
		w.keep(it)
	}
	if outcome == deque.Stolen {
		w.tellStole(victim, 1+len(rest))
	}
	clear(rest)
	return it, outcome
}

func (w *Worker) tellStole(victim *Worker, n int) {
	for _, call := range w.core.attached.stole {
		call(w, victim, n)
	}
}

// keep makes an item that the worker has stolen, and does not run at once, available again.
func (w *Worker) keep(it *Item) {
	if it.Body.forks {
		// The joiner of a fork may need it before this worker comes to it. In the injector the joiner finds it
		// (retrieve).
		w.ex.inject(it)
		return
	}
	it.Body.owner().visit(w)
	// Most policies wake no worker for it: a thief looks for more when it ceases to be one.
	w.tell(w.put(it))
}

// receive waits a bounded time for an item that another worker deals out, if the lane is of a kind that receives.
func (w *Worker) receive() (*Item, deque.Outcome) {
	if !w.lane.CanReceive() || w.lane.IsAlone() {
		return nil, deque.Empty
	}
	it, outcome := w.lane.Receive()
	w.countSteal(outcome)
	if outcome == deque.Stolen {
		w.tellStole(nil, 1)
	}
	return it, outcome
}

// takeSubmitted takes the oldest item of the injector, of the highest priority at most takes.
func (w *Worker) takeSubmitted() (*Item, deque.Outcome) {
	w.search.takes++
	it, outcome := w.core.injector.steal(w.search.takes)
	if outcome == deque.Lost {
		w.lose()
	}
	return it, outcome
}

// nextSubmitted takes the oldest item of that priority from the injector, for a worker that is about to sleep: after a
// lost steal it tries again, since the worker must not sleep while the next item is one that it waits for.
func (w *Worker) nextSubmitted(p Priority) *Item {
	for {
		it, outcome := w.core.injector.of(p).Steal()
		if outcome != deque.Lost {
			return it
		}
		w.lose()
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
	if w.search.losses++; w.search.losses%politeLosses == 0 && w.yieldsWhenLost() {
		osthread.Yield()
	}
}

// yieldsWhenLost reports whether lost steals make the worker yield. With Config.Verbatim they do not, except where a
// lost steal is tried again at once: in waits, and under a policy that does so.
func (w *Worker) yieldsWhenLost() bool {
	cfg := &w.core.cfg
	return !cfg.Verbatim || policy.Table[cfg.Policy].Retries || w.waits.run != nil
}
