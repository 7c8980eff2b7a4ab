package executor

import (
	"time"

	"github.com/magpie-go/magpie/deque"
	"github.com/magpie-go/magpie/internal/osthread"
)

// findAdaptive looks for an item, sleeping while there is none. It returns nil when the executor stops, and when a spare is
// dismissed.
//
// The rule: a thief is a worker that looks for items, or one that was notified and has not got up yet; thieves counts
// them. Whoever makes an item available wakes a worker if there is no thief (Push, submit). Whoever stops being a thief
// looks once more, at everything, after it has ceased to count: either it sees the item, or the one who made it
// available saw no thief. So no item waits in a deque while a worker sleeps. See PROTOCOL.md.
func (w *Worker) findAdaptive() *Item {
	ex := w.ex
	ex.thieves.Add(1)
	for {
		var it *Item
		leaves := w.dismissed()
		if !leaves {
			it = w.search()
		}
		if leaves || it != nil {
			// Guard B of the paper: an item may have been pushed trusting in this thief, which now is none.
			// D1(dismiss): a spare that leaves is none either, and what has woken it goes on to another.
			if ex.thieves.Add(-1) == 0 && ex.anyItem() {
				ex.wakeOne()
			}
			return it
		}
		w.state.Store(uint32(preparing))
		ex.notifier.Prepare(w.id)
		// D1(park): cease to count, then look everywhere. Looking first would miss an item pushed between the two by
		// somebody who still saw a thief.
		ex.thieves.Add(-1)
		if ex.stop.Load() {
			ex.notifier.Cancel(w.id)
			return nil
		}
		if ex.anyItem() {
			if !ex.notifier.Cancel(w.id) {
				ex.thieves.Add(1) // otherwise whoever notified has counted us
			}
			continue
		}
		w.sleep()
		// Whoever notified has counted us as a thief.
	}
}

// search looks at the injector and at every other worker's deque, a bounded number of times.
func (w *Worker) search() *Item {
	w.state.Store(uint32(searching))
	ex := w.ex
	// Not while something comes from outside, which others may wait for.
	for pause := crumbPause * min(max(0, w.crumbs-fewCrumbs), crumbPauses); pause > 0 && ex.injector.isEmpty(); pause-- {
	}
	for round := 0; round < searchRounds; {
		lost, received := false, false
		if !ex.injector.isEmpty() {
			if it, outcome := w.stealFrom(w.id); it != nil {
				return it
			} else if outcome == deque.Lost {
				lost = true
			}
		}
		// From the last success on, all the way round: no victim is left out.
		crew := ex.crew()
		for i := range crew {
			v := w.victim + i
			if v >= len(crew) {
				v -= len(crew)
			}
			if v == w.id || !w.hides && !crew[v].offers() {
				continue // what is hidden has to be asked for, waited for, or tried
			}
			if w.receiver != nil && crew[v].deque.IsEmpty() {
				if received {
					continue // who waits to be dealt to waits once a round
				}
				received = true
			}
			it, outcome := w.stealFrom(v)
			if it != nil {
				return it
			}
			lost = lost || outcome == deque.Lost
		}
		if lost {
			continue // there is something; a lost race is not a failed round
		}
		if round++; round >= crowdRounds && ex.thieves.Load() > 1 || ex.stop.Load() {
			return nil
		}
		if round > politeRounds {
			osthread.Yield()
		}
		// Wait away from the deques: reading a word takes its cache line from the owner who writes it.
		for range searchPause {
			if !ex.injector.isEmpty() {
				break
			}
		}
	}
	return nil
}

// anyItem reports whether there was an item to take, in a deque or in the injector, at the moment of the look at each.
func (ex *Executor) anyItem() bool {
	if !ex.injector.isEmpty() {
		return true
	}
	for _, w := range ex.crew() {
		if w.offers() {
			return true
		}
	}
	return false
}

// inject makes an item available through the injector and wakes somebody to run it. Any thread.
func (ex *Executor) inject(it *Item) {
	run := it.Body.Run().asRun() // before the push: after it the item may be run and the run be over
	ex.injector.push(it)
	// D1(inject): as D1(push).
	switch {
	case ex.cfg.Policy == AdaptivePublished:
		ex.notifier.Notify(1) // document 000, Algorithm 1, line 6
	case ex.notifier.Waiting() && ex.noThiefSoon():
		ex.wakeOne()
	}
	if ex.sleepingHelpers.Load() > 0 {
		ex.wakeHelpers(run, nil)
	}
}

// noThiefSoon reports whether there is no thief, after waiting for one: a caller that submits run after run finds the
// worker that has just finished the last on its way to look for more, and waking another would cost ten times as much.
func (ex *Executor) noThiefSoon() bool {
	for range thiefPatience {
		if ex.thieves.Load() != 0 {
			return false
		}
	}
	return true
}

// anyoneAsleep is the cheap look before wakeOne and wakeHelpers.
func (ex *core) anyoneAsleep() bool {
	return ex.notifier.Waiting() || ex.sleepingHelpers.Load() > 0
}

// wakeOne wakes one worker if there is no thief. The caller has made an item available, or knows of one.
func (ex *Executor) wakeOne() {
	// The waker counts the woken as a thief, so that others who push before it has got up wake nobody else.
	for ex.thieves.CompareAndSwap(0, 1) {
		if ex.notifier.Notify(1) > 0 {
			return
		}
		// Nobody to wake. But for a moment the count spoke of a thief that did not exist: a worker may have gone to
		// sleep since Notify looked, and an item may have been pushed after that trusting in the count. Look again.
		if ex.thieves.Add(-1) != 0 || !ex.anyItem() {
			return
		}
		if !ex.notifier.Waiting() {
			ex.wakeHelpers(nil, nil)
			return
		}
	}
}

// wakeAll wakes every worker that sleeps, for spares among them to leave. NotifyAll would not do: a waiter that it has just
// missed notifies others once more, whom nobody would have counted.
func (ex *Executor) wakeAll() {
	n := len(ex.crew())
	if ex.cfg.Policy == AdaptivePublished {
		ex.notifier.Notify(n) // who is woken counts itself
		return
	}
	// As in wakeOne: they are counted beforehand, and then for a moment the count spoke of some that did not exist.
	ex.thieves.Add(int32(n))
	woken := ex.notifier.Notify(n)
	if ex.thieves.Add(int32(woken-n)) == 0 && ex.anyItem() {
		ex.wakeOne()
	}
}

// notifyOne is the published policy's notification: unconditional.
func (ex *Executor) notifyOne() {
	if ex.notifier.Notify(1) == 0 && ex.sleepingHelpers.Load() > 0 {
		ex.wakeHelpers(nil, nil)
	}
}

// workStolen is work for an item that was stolen. It finds out whether that was worth it.
func (w *Worker) workStolen(it *Item) {
	items, timed := w.counts.items, w.crumbs >= fewCrumbs
	var begin time.Time
	if timed {
		begin = time.Now()
	}
	w.work(it)
	if w.counts.items-items > 1 || timed && time.Since(begin) >= crumb {
		w.crumbs = 0
	} else {
		w.crumbs++
	}
}
