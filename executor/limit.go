package executor

import (
	"slices"

	"github.com/magpie-go/magpie/internal/xsync"
)

// A limiter keeps the number of workers in a run, and in the runs nested in it, at RunOptions.Workers or below. A
// worker takes a slot before it enters a body of such a run. It gives the slot back when it turns to something else,
// and not while it waits inside a task of the run. An item for which there is no slot is held.
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

// any reports whether the worker has a slot of any limiter.
func (s *slots) any() bool {
	return s.own != nil || slices.ContainsFunc(s.kept, func(l *limiter) bool { return l != nil })
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

// attachLimits has the kernel keep the limits of runs.
func attachLimits(on *attachments) {
	slots := func(w *Worker) *slots { return &partsOf(w).slots }
	on.admits = append(on.admits, func(w *Worker, it *Item) bool { return slots(w).admits(w, it) })
	on.turned = append(on.turned, func(w *Worker, b *Body) { slots(w).use(w, b) })
	on.nested.add(func(w *Worker) { slots(w).keep() })
	on.unnested.add(func(w *Worker) { slots(w).drop() })
	on.held = append(on.held, func(w *Worker, of *Run, only *Item) *Item {
		return slots(w).takeHeld(of, only)
	})
}

// limitFor returns the limiter of a run of j nested in parent, or in none if parent is nil.
func limitFor(ex *executor, j Job, parent *Run) (l *limiter) {
	if parent != nil {
		l = partsOfRun(parent).limit
	}
	if most := optionsOf(j).Workers; most > 0 && ex.inline == nil { // an inline executor has one worker
		l = &limiter{up: l, most: most}
	}
	return l
}

// admits takes the slots that worker w needs to run item it. If there is none it holds the item and returns false.
func (s *slots) admits(w *Worker, it *Item) bool {
	run := it.Body.owner()
	if s.admit(w, partsOfRun(run).limit, it) {
		return true
	}
	// D1(held): hold the item, then look for sleeping helpers. Pairs with D1(await): one that has a slot may take the
	// item.
	if w.core.sleepingHelpers.Load() > 0 {
		w.core.wakeHelpers(run, nil)
	}
	return false
}

// admit takes a slot of l and of the limiters around it, outermost first, as far as the worker has none.
func (s *slots) admit(w *Worker, l *limiter, it *Item) bool {
	if l == nil || s.has(l) {
		return true
	}
	if !s.admit(w, l.up, it) {
		return false
	}
	if l.enter(it) {
		return true
	}
	s.giveBack(w, l.up)
	return false
}

// giveBack gives back the slots of l and of the limiters around it that the worker does not need.
func (s *slots) giveBack(w *Worker, l *limiter) {
	for ; l != nil && !s.has(l); l = l.up {
		for _, it := range l.leave() {
			w.core.inject(it)
		}
	}
}

// use notes that the worker has turned to body b, for which it has slots, and gives back those of the body before.
func (s *slots) use(w *Worker, b *Body) {
	var l *limiter
	if b != nil {
		if r := b.owner(); r != nil { // nil in core.nowhere
			l = partsOfRun(r).limit
		}
	}
	if old := s.own; old != l {
		s.own = l
		s.giveBack(w, old)
	}
}

// keep keeps the slots of the item being run, which is about to wait, until drop.
func (s *slots) keep() { s.kept = append(s.kept, s.own) }

// drop undoes keep. A worker that is in another body returns to that of the item next.
func (s *slots) drop() {
	last := len(s.kept) - 1
	s.kept[last] = nil
	s.kept = s.kept[:last]
}

// takeHeld takes an item that is held for want of a slot that the worker has, see attachments.takeHeld. The item that
// the worker waits for may be held, because another worker met it first.
func (s *slots) takeHeld(of *Run, only *Item) *Item {
	l := s.own
	if of != nil {
		l = partsOfRun(of).limit
	}
	for ; l != nil; l = l.up {
		if !s.has(l) {
			continue
		}
		if it := l.take(func(it *Item) bool {
			return it == only || only == nil && (of == nil || it.Body.owner().isFor(of))
		}); it != nil {
			return it
		}
	}
	return nil
}
