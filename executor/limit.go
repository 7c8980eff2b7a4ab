package executor

import (
	"slices"

	"github.com/magpie-go/magpie/internal/xsync"
)

// A limiter keeps the number of workers in a run, and in the runs nested in it, at RunOptions.Limit or below. A worker
// takes a slot before it enters a body of such a run. It gives the slot back when it turns to something else, and not
// while it waits inside a task of the run. An item for which there is no slot is held.
//
// A held item implies that, when it came, every slot was taken. A worker that gives a slot back puts as many held items
// into the injector as slots are free then. So no item is held while no worker has a slot. Both are decided under mu.
type limiter struct {
	up   *limiter // of the run around, or nil; a worker with a slot of this limiter has one of that
	most int

	mu   xsync.Mutex
	in   int     // slots taken
	held []*Item // oldest first
}

// enter takes a slot for the calling worker. If there is none, it holds item it and returns false: another worker may
// run the item at once.
func (l *limiter) enter(it *Item) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.in < l.most {
		l.in++
		return true
	}
	l.held = append(l.held, it)
	return false
}

// leave gives a slot back. It returns the items that need not be held any longer.
func (l *limiter) leave() []*Item {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.in--
	n := min(l.most-l.in, len(l.held))
	free := l.held[:n:n]
	if l.held = l.held[n:]; len(l.held) == 0 {
		l.held = nil
	}
	return free
}

// take removes the oldest held item for which is returns true, or returns nil.
func (l *limiter) take(is func(*Item) bool) *Item {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, it := range l.held {
		if is(it) {
			if i == 0 {
				l.held = l.held[1:] // constant time
			} else {
				l.held = slices.Delete(l.held, i, i+1)
			}
			return it
		}
	}
	return nil
}

// load returns the numbers of slots taken and of items held.
func (l *limiter) load() (in, held int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.in, len(l.held)
}

// A slots says which limiters a worker has slots of: for the item being run, and for those that wait on its stack.
// Owner only, plain.
type slots struct {
	own  *limiter   // of the body's run
	kept []*limiter // of runs whose tasks wait on the stack
}

// has reports whether the worker has a slot of l.
func (s *slots) has(l *limiter) bool {
	if isAround(s.own, l) {
		return true
	}
	for _, k := range s.kept {
		if isAround(k, l) {
			return true
		}
	}
	return false
}

// isAround reports whether l is inner or around it.
func isAround(inner, l *limiter) bool {
	for ; inner != nil; inner = inner.up {
		if inner == l {
			return true
		}
	}
	return false
}

// enterAdmitted enters the body of item it and returns the item, unless the limit of its run forbids that. Then it
// holds the item and returns nil.
func (w *Worker) enterAdmitted(it *Item) *Item {
	if it = w.admitted(it); it != nil {
		w.enter(it.Body)
	}
	return it
}

// admitted takes the slots that the worker needs to run item it. If there is none it holds the item and returns nil.
func (w *Worker) admitted(it *Item) *Item {
	run := it.Body.owner()
	if run == nil || run.settings.limit == nil || w.admit(run.settings.limit, it) {
		return it
	}
	// D1(held): hold the item, then look for sleeping helpers. Pairs with D1(await): one that has a slot may take the
	// item.
	if w.core.sleepingHelpers.Load() > 0 {
		w.ex.wakeHelpers(run, nil)
	}
	return nil
}

// admit takes a slot of l and of the limiters around it, outermost first, as far as the worker has none.
func (w *Worker) admit(l *limiter, it *Item) bool {
	if l == nil || w.slots.has(l) {
		return true
	}
	if !w.admit(l.up, it) {
		return false
	}
	if l.enter(it) {
		return true
	}
	w.giveBack(l.up)
	return false
}

// giveBack gives back the slots of l and of the limiters around it that the worker does not need.
func (w *Worker) giveBack(l *limiter) {
	for ; l != nil && !w.slots.has(l); l = l.up {
		for _, it := range l.leave() {
			w.ex.inject(it)
		}
	}
}

// useSlots notes that the worker has turned to body b, for which it has slots, and gives back those of the body before.
func (w *Worker) useSlots(b *Body) {
	var l *limiter
	if b != nil {
		if r := b.owner(); r != nil { // nil in core.nowhere
			l = r.settings.limit
		}
	}
	if old := w.slots.own; old != l {
		w.slots.own = l
		w.giveBack(old)
	}
}

// keepSlots keeps the slots of the item being run, which is about to wait, until dropSlots.
func (w *Worker) keepSlots() { w.slots.kept = append(w.slots.kept, w.slots.own) }

// dropSlots undoes keepSlots. The worker has turned back to the body of the item.
func (w *Worker) dropSlots() {
	last := len(w.slots.kept) - 1
	w.slots.kept[last] = nil
	w.slots.kept = w.slots.kept[:last]
}

// popHeld takes an item that is held for want of the slot that the worker has.
func (w *Worker) popHeld() *Item {
	for l := w.slots.own; l != nil; l = l.up {
		if it := l.take(func(*Item) bool { return true }); it != nil {
			return it
		}
	}
	return nil
}

// findHeld takes a held item of r or of a run nested in it, for a helper that has the slot.
func (w *Worker) findHeld(r *Run) *Item {
	for l := r.settings.limit; l != nil; l = l.up {
		if w.slots.has(l) {
			if it := l.take(func(it *Item) bool { return it.Body.owner().isFor(r) }); it != nil {
				return it
			}
		}
	}
	return nil
}

// retrieveHeld takes the fork f, which a worker without a slot has met. The joiner has the slot.
func (w *Worker) retrieveHeld(f *fork) *Item {
	for l := f.Body.owner().settings.limit; l != nil; l = l.up {
		if it := l.take(func(it *Item) bool { return it == &f.Item }); it != nil {
			return it
		}
	}
	return nil
}
