package graph

import "github.com/magpie-go/magpie/executor"

// A worker runs a task, counts down those that come after it, and goes on with one that has become ready.

// execTask runs a task with at most one predecessor, counts it done and releases its successors. Then it runs what
// follows: a successor, or the next task of the span that the worker claims from. It returns an item that the worker's
// loop is to run.
func execTask(w *executor.Worker, it *executor.Item) *executor.Item {
	t := recordOf(it)
	r := stateOf(it.Body)
	l := r.local(w)
	for {
		next := r.runTask(w, l, t)
		if next == nil {
			return nil
		}
		t = recordOf(next)
		if isExecJoin(next) {
			r.arm(t, r.index(t)) // execJoin does the same if Continue refuses it
		} else if !isExecTask(next) {
			return next
		}
		if !w.Continue(next) {
			return next
		}
	}
}

// runTask runs a task, counts it done and releases its successors. It returns the item to run next.
func (r *runState) runTask(w *executor.Worker, l *local, t *record) *executor.Item {
	return func() *executor.Item { // so that runTask is inlined, as executor.Fork is
		if r.Disturbed() {
			return r.runDisturbed(w, t)
		}
		if err := t.fn(r.ctx.Get()); err != nil {
			r.fail(t, err)
		}
		l.done++
		return r.releaseOften(w, l, t)
	}()
}

// releaseOften is release with the most frequent cases written out.
func (r *runState) releaseOften(w *executor.Worker, l *local, t *record) *executor.Item {
	return func() *executor.Item { // so that releaseOften is inlined
		first, count := t.succ&succMask, t.succ>>succShift
		switch {
		case l.span != nil && count == 1:
			return r.releaseInSpan(w, l, r.successor(first))
		case l.span != nil || count >= succMany:
			return r.release(w, l, t)
		case count == 0:
			return nil
		case count == 1:
			if s := r.successor(first); s.countDown(r.Run().Alone(w)) {
				return &s.Item
			}
			return nil
		case count == 2:
			next, s := r.successor(first), r.successor(first+1)
			alone := r.Run().Alone(w)
			ready := s.countDown(alone)
			if !next.countDown(alone) {
				if ready {
					return &s.Item
				}
				return nil
			}
			if ready {
				w.Push(&s.Item)
			}
			return &next.Item
		}
		if next, _ := r.releaseFew(w, first, count); next != nil {
			return &next.Item
		}
		return nil
	}()
}

// execJoin runs a task with several predecessors. All of them have counted down, and in the next run they count down
// later. So the thread that runs the task arms its join counter again.
func execJoin(w *executor.Worker, it *executor.Item) *executor.Item {
	t := recordOf(it)
	r := stateOf(it.Body)
	r.arm(t, r.index(t))
	return execTask(w, it)
}

// execOne runs one task. It is for tasks that give permits back before the worker runs another.
func execOne(w *executor.Worker, it *executor.Item) *executor.Item {
	t := recordOf(it)
	r := stateOf(it.Body)
	r.arm(t, r.index(t))
	return r.runTask(w, r.local(w), t)
}

// arm arms the join counter of task i again, if the task has several predecessors.
func (r *runState) arm(t *record, i uint32) {
	if join := r.plan.Join[i]; join > 1 {
		t.join.Arm(join)
	}
}

// release counts down the join counters of t's successors and makes the successors available that became ready. It
// returns the item to run next: the first of them, with the others pushed behind it in their order. Edges are mostly
// added in the order in which the tasks and what they work on lie in memory, and that is then the order of a run.
func (r *runState) release(w *executor.Worker, l *local, t *record) *executor.Item {
	first, count := t.succ&succMask, t.succ>>succShift
	switch count {
	case 1:
		if l.span != nil {
			return r.releaseInSpan(w, l, r.successor(first))
		}
	case succMany, succSpan:
		return r.releaseMany(w, l, t)
	}
	next, pushed := r.releaseFew(w, first, count)
	if pushed {
		l.detach()
	}
	if next != nil {
		return &next.Item
	}
	if l.span != nil {
		return r.claim(w, l)
	}
	return nil
}

// releaseFew is release for a few successors. It returns the record of the task to run next, if one became ready, and
// whether it has pushed others. If so, its caller detaches the worker from its span, as push does.
func (r *runState) releaseFew(w *executor.Worker, first, count uint32) (next *record, pushed bool) {
	alone := r.Run().Alone(w)
	for i := first + count; i > first; i-- {
		s := r.successor(i - 1)
		if !s.countDown(alone) {
			continue
		}
		if next != nil {
			w.Push(&next.Item)
			pushed = true
		}
		next = s
	}
	return next, pushed
}

// countDown counts a predecessor of t down, and reports whether t is ready now. alone says that no other worker counts.
func (t *record) countDown(alone bool) (ready bool) {
	if t.join.Last() {
		return true
	}
	if alone {
		t.join.DoneAlone()
		return false
	}
	return t.join.Done(1)
}

// push makes an item available to other workers. The worker stops claiming from its span, so that it runs the item
// before the rest of the span. Otherwise a wide graph would fill the deque with items that its tasks release.
func (r *runState) push(w *executor.Worker, l *local, it *executor.Item) {
	l.detach()
	w.Push(it)
}
