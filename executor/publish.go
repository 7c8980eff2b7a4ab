package executor

import "github.com/magpie-go/magpie/deque"

// attend is called at a Fork or Join if there is demand, or little to steal.
func (f *forks) attend() {
	w := f.w
	if partsOf(w).share.isWanted() {
		partsOf(w).share.Rest()
	}
	f.publish()
}

// attendIfAsked is called where a task may have run for long without a Fork or Join.
func (f *forks) attendIfAsked() {
	w := f.w
	if w.lane.Demand() || partsOf(w).share.isWanted() {
		f.attend()
	}
}

// attendIfFew is called at the second Fork of a frame if there may be little to steal.
//
//go:noinline
func attendIfFew(w *Worker) {
	if w.lane.HasFew() {
		forksOf(w).attend()
	}
}

// publish pushes the private forks, oldest first, and wakes a worker for them if there is no thief.
func (f *forks) publish() {
	w := f.w
	if f.public == f.level() || w.lane.KeepsForks() {
		w.tell(w.lane.Poll()) // the lane may have other items
		return
	}
	w.lane.Answer()
	shown := deque.Nothing
	for f.public < f.level() {
		next := f.oldestPrivate()
		f.public = next.level
		next.mark = w.lane.Mark()
		next.setOrigin(f.scope)
		next.generation |= checkedBit
		shown = max(shown, w.put(&next.Item))
	}
	w.lane.Answered()
	if !w.lane.IsDirect() {
		w.tell(shown)
		return
	}
	// D1(publish): as D1(push).
	if w.search.thieves.Load() == 0 {
		w.wakeForPushed()
	}
}

// pushFork pushes a fork that is to be pushed at once, as all older ones were, where the near end does not take it. It
// wakes a worker if there is no thief.
func (f *forks) pushFork(next *fork) {
	w := f.w
	if !w.lane.IsDirect() {
		w.pushAside(&next.Item)
		return
	}
	w.lane.PushDirect(&next.Item)
	// D1(publish): as D1(push).
	if w.search.thieves.Load() == 0 {
		w.wakeForPushed()
	}
}

// expose publishes all private forks. It is called before the worker runs something on top of the call in progress or
// waits, because the call may then join its forks late. So all private forks are of the scope that began last (I7).
func (f *forks) expose() {
	if f.public != f.level() {
		f.publish()
	}
}
