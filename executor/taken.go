package executor

import "context"

// beginTaken prepares the worker to run next, which it has taken from a lane.
func (f *forks) beginTaken(next *fork) *Scope {
	w := f.w
	if next.owner != w && next.owner != nil { // else nobody asks: a root is not joined
		f.takes++
		next.state.Add(uint64(w.id+1) | f.takes<<forkTakes)
	}
	w.lane.NoteEmpty()
	s := f.scopes
	if s == nil {
		s = &Scope{w: w, slack: w.lane.SlackWord(), lo: noStack}
	} else {
		f.scopes = s.next
	}
	f.begun++
	s.number = f.begun
	s.fork, s.body, s.run = next, next.Body, scopeRunOf(next.Body)
	s.top.span, s.under = span{f.under, f.under}, f.under
	f.scope = s
	s.level, s.base = f.level(), f.base
	f.base = s.level // while s lasts remove does not go below
	return s
}

// endTaken ends a fork that beginTaken has begun, after everything that it has started.
func (f *forks) endTaken(done *fork) {
	s := f.scope
	s.finish(s.level)
	done.skipped = done.skipped || s.skipped
	f.base, f.thrown = s.base, thrown{}
	f.scope, f.under = nil, s.under
	s.top = top{}
	s.fork, s.body, s.run, s.lo, s.skipped, s.next = nil, nil, nil, noStack, false, f.scopes
	f.scopes = s
	owner := done.owner
	switch owner {
	case nil: // a root, which is not joined
		return
	case f.w:
		done.own = true
		return
	}
	if done.state.Swap(forkDone)&forkWaited != 0 {
		owner.sleeper.wake(owner)
	}
}

// execCall makes the call for the worker that took the fork from a lane.
func execCall[A, R any](w *Worker, it *Item) *Item {
	c := callOf[A, R](it)
	s := forksOf(w).beginTaken(&c.fork)
	var none A
	arg := c.arg
	c.arg = none
	c.result = c.fn(s, arg)
	forksOf(w).endTaken(&c.fork)
	return nil
}

// execCallObserved makes the call as execCall does, and tells the observers of it. For the worker that has forked the
// call it is no task.
func execCallObserved[A, R any](w *Worker, it *Item) *Item {
	if forkOf(it).owner != w {
		r := scopeRunOf(it.Body)
		_ = r.Run().CallTask(w, &r.tasks[forkTask], func(context.Context) error {
			execCall[A, R](w, it)
			return nil
		})
		return nil
	}
	return execCall[A, R](w, it)
}
