package executor

import "github.com/magpie-go/magpie/deque"

// A worker runs items in one of three inner loops. It is chosen when the worker is made, by the kind of its lane, so
// that the plain loop, that of the default lane, has no branches for the others.

// loopFor chooses the worker's inner loop.
func (w *Worker) loopFor() func(*Worker, *Item) {
	switch {
	case w.inline != nil:
		return (*Worker).runShuffled
	case w.share != nil:
		return (*Worker).runShared
	case w.lane.IsPolled():
		return (*Worker).runPolled
	default:
		return (*Worker).runPlain
	}
}

// runPlain runs items until the worker has no more or one fails to return. One deferred call serves all of them.
func (w *Worker) runPlain(it *Item) {
	var current *Item // the item being run; a variable of its own, so that it can stay in a register
	returned := false
	defer func() {
		if !returned {
			w.failed(current, recover())
		}
	}()
	for it != nil {
		if it.Body != w.body {
			if it = w.turn(it); it == nil {
				break
			}
		}
		if w.counts.items++; w.counts.items%pollInterval == 0 {
			if it = w.checkpoint(it); it == nil {
				break
			}
		}
		current = it
		if it = it.Exec(w, it); it == nil {
			it = w.pop()
		}
	}
	returned = true
}

// runPolled is runPlain for a lane whose thieves ask for items, or wait to be dealt some. The worker answers them
// before each item: otherwise they would wait as long as each item returns the next without a lane operation.
func (w *Worker) runPolled(it *Item) {
	var current *Item
	returned := false
	defer func() {
		if !returned {
			w.failed(current, recover())
		}
	}()
	for it != nil {
		if it.Body != w.body {
			if it = w.turn(it); it == nil {
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
		current = it
		if it = it.Exec(w, it); it == nil {
			it = w.pop()
		}
	}
	returned = true
}

// runShared is runPolled for a worker that shares the machine. It may rest before each item.
func (w *Worker) runShared(it *Item) {
	var current *Item
	returned := false
	defer func() {
		if !returned {
			w.failed(current, recover())
		}
	}()
	polled, wanted := w.lane.IsPolled(), w.share.control.Word()
	for it != nil {
		if it.Body != w.body {
			if it = w.turn(it); it == nil {
				break
			}
		}
		if wanted.Load() {
			w.share.rest()
		}
		if polled && w.lane.Demand() {
			w.tell(w.lane.Poll())
		}
		if w.counts.items++; w.counts.items%pollInterval == 0 {
			if it = w.checkpoint(it); it == nil {
				break
			}
		}
		current = it
		if it = it.Exec(w, it); it == nil {
			it = w.pop()
		}
	}
	returned = true
}

// runShuffled is runPlain for an inline worker. An item that Exec returns is pushed, so that the seed chooses among
// all.
func (w *Worker) runShuffled(it *Item) {
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
	defer func() {
		if !ok {
			w.failed(it, recover())
		}
	}()
	if it.Body != w.body {
		w.enter(it.Body)
	}
	w.counts.items++
	w.noticeContexts()
	return it.Exec(w, it), true
}

// tell acts on the effect of an operation on the worker's lane: if thieves see more items than before, it wakes a
// worker for them, unless there is a thief.
//
// D1(poll): show the items, then look for a thief. Pairs with D1(park) in the policies and D1(help), as D1(push) does.
// A thief that has announced its sleep and looked before the items were shown has left a request, and the owner's next
// operation shows an item for it (L1).
func (w *Worker) tell(effect deque.Effect) {
	if effect != deque.Shown || w.control.thieves.Load() != 0 {
		return
	}
	if w.lane.CanReceive() && w.lane.Len() == 0 {
		w.ex.policy.Shown() // no wakeHelpers: helpers are dealt nothing
		return
	}
	w.wakeFor(nil) // the items may be of any run
}
