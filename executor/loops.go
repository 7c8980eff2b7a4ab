package executor

import "github.com/magpie-go/magpie/deque"

// A worker runs items in one of three inner loops. It chooses one when it is made, by its lane: the plain loop, which all but a
// few have, knows nothing of the others.

// loopFor chooses the worker's inner loop.
func (w *Worker) loopFor() func(*Worker, *Item) {
	switch {
	case w.inline != nil:
		return (*Worker).runShuffled
	case w.lane.IsPolled():
		return (*Worker).runPolled
	default:
		return (*Worker).runPlain
	}
}

// runPlain runs items until the worker has no more or one fails to return. One deferred call serves all in between.
func (w *Worker) runPlain(it *Item) {
	var current *Item // the item being run; apart from it, which so can stay in a register
	returned := false
	defer func() {
		if !returned {
			w.failed(current, recover())
		}
	}()
	for it != nil {
		if it.Body != w.body {
			w.enter(it.Body)
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

// runPolled is runPlain for a worker whose lane has thieves that ask, or wait to be dealt to. It answers them before each item:
// otherwise they would wait as long as items follow each other without the lane.
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
			w.enter(it.Body)
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

// runShuffled is runPlain of an inline worker, one item at a time: an item that another returns is pushed among the others.
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

// tell acts on the effect of an operation on the worker's lane: it wakes somebody for items that thieves see since.
//
// D1(poll): to steal, then look for somebody who will look there. Pairs with D1(park) in the policies and D1(help), as D1(push)
// does. A thief that has announced first, and looked before, has left a request, for which the next operation shows an
// item (L1).
func (w *Worker) tell(effect deque.Effect) {
	if effect != deque.Shown || w.thieves.Load() != 0 {
		return
	}
	if w.lane.CanReceive() && w.lane.Len() == 0 {
		w.ex.policy.Shown() // helpers are dealt nothing
		return
	}
	w.wakeFor(nil) // the items may be of any run
}
