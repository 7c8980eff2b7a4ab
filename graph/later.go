package graph

import (
	"errors"

	"github.com/magpie-go/magpie/executor"
)

// errLater is returned by special.run for a task that has run its function and ends later. Such a task holds no worker
// and no stack. It holds its permits, and its unit in runState.left: so the run cannot end before it. Its lateEnd is an
// item that is made available when the task is to end, once.
var errLater = errors.New("graph: the task ends later")

// A lateEnd is the item that ends a task, with err, and makes its successors available.
type lateEnd struct {
	executor.Item // first: see lateEndOf
	task          uint32
	err           error
	made          *any // the value of the task, if it makes one
}

func newLateEnd(r *runState, task uint32) lateEnd {
	return lateEnd{Item: executor.Item{Exec: execLateEnd, Body: &r.Body}, task: task}
}

// endsLater returns the item to run next after task i, which ends later. From the return of errLater on, another worker
// may run the task's lateEnd.
func (r *runState) endsLater(w *executor.Worker, l *local, i uint32) *executor.Item {
	_, l.later = r.limited[i] // execLimited takes it back at once
	return r.goOn(w, l)
}

// goOn returns the item to run next after a task that makes none ready now: it was put aside, or ends later. A task for
// which the worker owes counts becomes available: the one that was to be counted down with it may take long.
func (r *runState) goOn(w *executor.Worker, l *local) *executor.Item {
	if s := l.settle(); s != nil {
		r.push(w, l, &s.Item)
	}
	if l.span != nil {
		return r.claim(w, l)
	}
	return nil
}

// execLateEnd ends a task.
func execLateEnd(w *executor.Worker, it *executor.Item) *executor.Item {
	e := lateEndOf(it)
	r := stateOf(it.Body)
	r.Run().Uncount(w)
	r.later.Add(-1)
	t, l := &r.records[e.task], r.local(w)
	if e.made != nil && e.err == nil {
		r.values[e.task].Store(e.made)
	}
	var next *executor.Item
	if r.isDynamic() {
		next = r.endDynamic(w, l, t, e.task, nil, e.err)
	} else {
		if e.err != nil {
			r.fail(t, e.err)
		}
		l.done++
		next = r.release(w, l, t)
	}
	if limited, ok := r.limited[e.task]; ok {
		limits := r.returned(&t.Item, limited)
		l.leave(it, next, limits, len(limits))
	}
	return next
}
