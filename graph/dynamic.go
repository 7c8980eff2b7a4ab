package graph

import (
	"context"
	"slices"

	"github.com/magpie-go/magpie/executor"
)

// isDynamic reports whether the run has choices or tasks of several priorities. With choices, the number of tasks to
// run is not known at the beginning. With several priorities, a worker does not choose the task that it runs next. In a
// dynamic run, runState.left counts the tasks that are ready or run, there are no spans, and the successors of a task
// that was skipped or has failed do not become ready, except that skipsOn has them skipped.
func (r *runState) isDynamic() bool { return r.plan.Chooses != nil || r.ranks != nil }

// execDynamic runs a task of a dynamic run. If a task is chosen while it is ready or runs, its item is in several
// places at once.
func execDynamic(w *executor.Worker, it *executor.Item) *executor.Item {
	t := recordOf(it)
	r := stateOf(it.Body)
	i := r.index(t)
	l := r.local(w)
	if r.Disturbed() && !r.mayBegin(w, t) {
		return r.endWithout(w, l, i)
	}
	l.ran++
	var one [1]int
	chosen, err := r.decide(r.ctx.Get(), w, t, i, &one)
	return r.endDynamic(w, l, t, i, chosen, err)
}

// decide calls the function of task i with ctx. It returns the indices that the task chooses, for which one has room.
func (r *runState) decide(
	ctx context.Context, w *executor.Worker, t *record, i uint32, one *[1]int,
) (chosen []int, err error) {
	switch s := r.special.of(i).(type) {
	case nil:
		err = t.fn(ctx)
	case oneOf:
		one[0], err = s(ctx)
		chosen = one[:]
	case someOf:
		chosen, err = s(ctx)
	default:
		err = s.run(ctx, w, r, i)
	}
	return chosen, err
}

// endDynamic makes the tasks available that task i, of record t, has made ready.
func (r *runState) endDynamic(
	w *executor.Worker, l *local, t *record, i uint32, chosen []int, err error,
) *executor.Item {
	if err == errLater {
		return r.endsLater(w, l, i)
	}
	if err != nil {
		r.fail(t, err)
		return r.endWithout(w, l, i)
	}
	if r.plan.Chooses != nil && r.plan.Chooses[i] {
		l.ready = r.choose(l, l.ready[:0], r.plan.Successors(i), chosen)
		return r.endWith(w, l)
	}
	return r.endOne(w, l, i)
}

// endWithout ends task i, which has failed or was skipped.
func (r *runState) endWithout(w *executor.Worker, l *local, i uint32) *executor.Item {
	if r.skipsOn() {
		return r.endOne(w, l, i)
	}
	l.done++
	return nil
}

// endOne ends task i, which does not choose, for its successors.
func (r *runState) endOne(w *executor.Worker, l *local, i uint32) *executor.Item {
	ready := l.ready[:0]
	for _, j := range r.plan.Successors(i) {
		// Rounds may overlap: one predecessor of j may end twice before another has ended once.
		if n := r.plan.Join[j]; n == 1 || r.records[j].join.DoneInTurn(n) {
			ready = append(ready, j)
		}
	}
	l.ready = ready
	return r.endWith(w, l)
}

// endWith ends a task that has made the tasks of l.ready ready.
func (r *runState) endWith(w *executor.Worker, l *local) *executor.Item {
	if len(l.ready) == 0 {
		l.done++
		return nil
	}
	return r.makeAvailable(w, l.ready)
}

// choose appends to ready the tasks of succ with the chosen indices, each task once.
func (r *runState) choose(l *local, ready, succ []uint32, chosen []int) []uint32 {
	if l.named == nil {
		l.named = make([]bool, r.plan.Len())
	}
	ready = slices.Grow(ready, min(len(chosen), len(succ)))
	for _, c := range chosen {
		if 0 <= c && c < len(succ) && !l.named[succ[c]] {
			l.named[succ[c]] = true
			ready = append(ready, succ[c])
		}
	}
	for _, i := range ready {
		l.named[i] = false
	}
	return ready
}

// execDynamicRoot makes the sources ready.
func execDynamicRoot(w *executor.Worker, it *executor.Item) *executor.Item {
	r := stateOf(it.Body)
	r.Run().Uncount(w)
	return r.makeAvailable(w, r.plan.Sources)
}

// makeAvailable makes ready tasks available, and returns the item to run next. The task that has made them ready, or
// the root, was counted in left. One of the ready tasks takes its place; the others are counted before they can run.
func (r *runState) makeAvailable(w *executor.Worker, ready []uint32) *executor.Item {
	last := len(ready) - 1
	if last > 0 {
		r.left.In(int64(last))
	}
	if r.ranks != nil {
		r.ranks.add(ready...)
		for range last {
			w.Push(&r.ranks.ticket)
		}
		return &r.ranks.ticket
	}
	for _, i := range slices.Backward(ready[1:]) {
		w.Push(&r.records[i].Item)
	}
	return &r.records[ready[0]].Item
}

// rearm arms the join counters, of which the previous dynamic run may have left some half counted. It also resets the
// turns of the ranks, so that a single worker runs the tasks in the same order each time.
func (r *runState) rearm() {
	for i := range r.plan.Len() {
		r.arm(&r.records[i], uint32(i))
	}
	if r.ranks != nil {
		r.ranks.takes = 0
	}
	for l := range r.allLocals() {
		l.ran = 0
		l.told.Store(0)
	}
}
