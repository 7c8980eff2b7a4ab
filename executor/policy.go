package executor

import (
	"github.com/magpie-go/magpie/deque"
	"github.com/magpie-go/magpie/internal/osthread"
)

// loop is a worker's life: work, then look for more (document 000, Algorithm 2).
func (w *Worker) loop() {
	find := w.findAdaptive
	if w.ex.cfg.Policy == AdaptivePublished {
		find = w.findPublished
	}
	for {
		won := w.counts.won
		it := find()
		if it == nil {
			if w.ex.stop.Load() || !w.standBy() {
				return
			}
			continue
		}
		if w.wakes && w.counts.won != won {
			w.workStolen(it)
		} else {
			w.work(it)
		}
	}
}

// work runs it and all that follows, as an active worker.
func (w *Worker) work(it *Item) {
	if it == nil {
		return
	}
	w.state.Store(uint32(running))
	if w.ex.cfg.Policy == AdaptivePublished {
		w.exploitPublished(it)
	} else {
		w.exploit(it)
	}
}

// stealFrom tries one victim; the worker itself stands for the injector, as in document 000 (Algorithm 4, line 5).
func (w *Worker) stealFrom(victim int) (*Item, deque.Outcome) {
	if victim == w.id {
		it, outcome := w.core.injector.steal()
		if outcome == deque.Lost {
			w.lose()
		}
		return it, outcome
	}
	v := w.ex.workers[victim]
	var it *Item
	var outcome deque.Outcome
	switch {
	case w.queue == nil || w.awaits != nil || !v.deque.IsEmpty():
		it, outcome = v.steal() // one, that is known to come from there
	case w.receiver != nil:
		it, outcome = w.receiver.Receive() // from whoever deals
		victim = w.victim
	case w.loot != nil:
		it, outcome = w.stealBatch(v)
	default:
		it, outcome = v.steal()
	}
	w.counts.tried++
	if w.core.asked {
		v.setHungry() // L1
	}
	switch outcome {
	case deque.Stolen:
		w.counts.won++
		w.victim = victim
		if !w.eager && !w.core.asked && v.deque.IsEmpty() {
			v.setHungry()
		}
	case deque.Lost:
		w.counts.lost++
		w.lose()
	}
	return it, outcome
}

// lose is called after a lost steal. Somebody else has the item then, or the owner is making the ring larger: that lasts
// until the owner gets on, and it may be waiting for this very core.
func (w *Worker) lose() {
	if w.losses++; w.losses%politeLosses == 0 {
		osthread.Yield()
	}
}

// random is a uniform index below n (xorshift64, and a multiplication instead of a remainder).
func (w *Worker) random(n int) int {
	x := w.rng
	x ^= x << 13
	x ^= x >> 7
	x ^= x << 17
	w.rng = x
	return int(x >> 32 * uint64(n) >> 32)
}

// ---- AdaptivePublished: document 000, Algorithms 3 to 5, line numbers in comments ----

// exploitPublished is Algorithm 3.
func (w *Worker) exploitPublished(it *Item) {
	ex := w.ex
	// D2(active): count as active, then look for thieves. Pairs with D2(last thief) in findPublished.
	if ex.actives.Add(1) == 1 && ex.thieves.Load() == 0 { // line 2: guard A
		ex.notifyOne()
	}
	w.exploit(it)
	ex.actives.Add(-1) // line 13
}

// findPublished is Algorithm 5. It returns nil when the executor stops, and when a spare is dismissed; where the paper
// returns true without a task, after a sleep, its caller comes back here at once, so this does too.
func (w *Worker) findPublished() *Item {
	ex := w.ex
	for {
		ex.thieves.Add(1) // line 2
		for {
			if w.dismissed() {
				// D1(dismiss): guards B and C, for whoever has trusted in this thief. Items count also if there are other
				// thieves: one that has looked at the injector is about to sleep, and what came after has woken this one.
				if ex.thieves.Add(-1) == 0 && ex.actives.Load() > 0 || ex.anyItem() {
					ex.notifyOne()
				}
				return nil
			}
			if it := w.explorePublished(); it != nil { // line 4
				if ex.thieves.Add(-1) == 0 { // guard B
					ex.notifyOne()
				}
				return it
			}
			w.state.Store(uint32(preparing))
			ex.notifier.Prepare(w.id) // line 10
			if ex.injector.isEmpty() {
				break
			}
			ex.notifier.Cancel(w.id)
			if it, _ := w.stealFrom(w.id); it != nil {
				if ex.thieves.Add(-1) == 0 {
					ex.notifyOne()
				}
				return it
			}
			// Line 20 goes to explore, not to the top: this worker still counts as a thief.
		}
		if ex.stop.Load() { // line 23
			ex.notifier.Cancel(w.id)
			ex.notifier.NotifyAll()
			ex.thieves.Add(-1)
			return nil
		}
		// D2(last thief): stop counting as a thief, then look for active workers. Without this guard C a worker that
		// became active just before would find a thief that is about to sleep, and wake nobody.
		if ex.thieves.Add(-1) == 0 && ex.actives.Load() > 0 { // line 29
			ex.notifier.Cancel(w.id)
			continue
		}
		w.sleep() // line 33
	}
}

// explorePublished is Algorithm 4.
func (w *Worker) explorePublished() *Item {
	w.state.Store(uint32(searching))
	crew := len(w.ex.crew())
	bound := stealBound * (crew + 1) // the paper's STEAL_BOUND
	for failed, yields := 0, 0; !w.ex.stop.Load(); {
		if it, _ := w.stealFrom(w.random(crew)); it != nil {
			return it
		}
		if failed++; failed >= bound {
			osthread.Yield()
			if yields++; yields == yieldBound {
				return nil
			}
		}
	}
	return nil
}

// sleep commits to the wait that was prepared.
func (w *Worker) sleep() {
	w.counts.parks++
	w.seen.publish(&w.counts)
	w.state.Store(uint32(parked))
	w.core.notifier.Commit(w.id)
	w.state.Store(uint32(searching))
	w.counts.wakeups++
}
