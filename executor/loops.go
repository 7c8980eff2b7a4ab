package executor

import "github.com/magpie-go/magpie/deque"

// A worker runs items in one of these inner loops. It is chosen when the worker is made, by the kind of its lane, so
// that the plain loop, that of the default lane, has no branches for the others.

type innerLoop struct {
	run     func(*Worker, *Item)
	current *Item // the item being run, or the next one before the first; nil if no loop runs
	// ahead is for Continue: of ahead+1 items, a power of two, Exec must return the last to the loop. It is 0 if the
	// loop has something to do before each item.
	ahead uint64
	polls bool // before each item the loop answers thieves, if there is demand
}

// loopFor chooses the worker's inner loop.
func loopFor(w *Worker) innerLoop {
	switch {
	case w.inline != nil:
		return innerLoop{run: runShuffled}
	case w.lane.IsPolled():
		return innerLoop{run: runPolled, ahead: pollInterval - 1, polls: true}
	default:
		return innerLoop{run: runPlain, ahead: pollInterval - 1}
	}
}

const _ = -uint(pollInterval & (pollInterval - 1)) // pollInterval is a power of two

// Continue reports whether the Exec of the item being run, which has ended, may run next, an item of the same body,
// instead of returning it. If so, Exec must do so at once, and next is the item being run from then on, also if it
// panics. If not, Exec returns next. To go on in Exec costs less than a return to the worker's loop. The item being run
// only, or a future's.
func (w *Worker) Continue(next *Item) bool {
	n := w.counts.items + 1
	if n&w.inner.ahead == 0 || w.inner.polls && w.lane.Demand() {
		return false
	}
	w.counts.items = n
	w.inner.current = next
	return true
}

// endLoop is deferred by each inner loop, which sets returned at its end. outer is the item that was being run when the
// loop began, if it runs items on top of that.
func (w *Worker) endLoop(outer *Item, returned *bool) {
	it := w.inner.current
	w.inner.current = outer
	if !*returned {
		w.failed(it, recover())
	}
}

// runPlain runs items until the worker has no more or one fails to return. One deferred call serves all of them.
func runPlain(w *Worker, it *Item) {
	returned := false
	defer w.endLoop(w.inner.current, &returned)
	w.inner.current = it
	for it != nil {
		if it.Body != w.body {
			if it = w.enterAdmitted(it); it == nil {
				break
			}
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

// runPolled runs items as runPlain does, of a lane whose thieves ask for items, or wait to be dealt some. The worker
// answers them before each item: otherwise they would wait as long as each item returns the next without a lane
// operation.
func runPolled(w *Worker, it *Item) {
	returned := false
	defer w.endLoop(w.inner.current, &returned)
	w.inner.current = it
	for it != nil {
		if it.Body != w.body {
			if it = w.enterAdmitted(it); it == nil {
				break
			}
		}
		if w.lane.Demand() {
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

// runShuffled runs items on an inline worker. It pushes an item that Exec returns, so that the seed chooses among all.
func runShuffled(w *Worker, it *Item) {
	for ; it != nil; it = w.pop() {
		next, ok := w.runOne(it)
		if !ok {
			return
		}
		if next != nil {
			w.Push(next)
		}
	}
}

// runOne runs item it and returns the item that Exec has returned. If Exec does not return, ok is false.
func (w *Worker) runOne(it *Item) (next *Item, ok bool) {
	defer w.endLoop(w.inner.current, &ok)
	w.inner.current = it
	if it.Body != w.body {
		w.enter(it.Body)
	}
	w.core.noticeContexts() // first: it may run items, and what they publish does not include this one
	w.counts.items++
	return it.Exec(w, it), true
}

// tell acts on the effect of an operation on the worker's lane: if thieves see more items than before, it wakes a
// worker for them, unless there is a thief.
//
// D1(poll): show the items, then look for a thief. Pairs with D1(park) in the policies and D1(await), as D1(push) does.
// A thief that has announced its sleep and looked before the items were shown has left a request, and the owner's next
// operation shows an item for it (L1).
func (w *Worker) tell(effect deque.Effect) {
	if effect != deque.Shown || w.search.thieves.Load() != 0 {
		return
	}
	if w.lane.CanReceive() && w.lane.Len() == 0 {
		w.core.policy.Shown() // no wakeHelpers: helpers are dealt nothing
		return
	}
	w.wakeFor(nil) // the items may be of any run
}
