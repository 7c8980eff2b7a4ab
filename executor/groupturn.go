package executor

import (
	"context"

	"github.com/magpie-go/magpie/internal/xsync"
)

// What Go does with a function: it gives it to the workers, puts it into the queue, waits for its turn, or calls it.

// take makes a function from outside available to the workers when its turn comes, and waits for that: so each caller
// has one function in the queue at most. A function of OnEnd on a worker of another executor does not wait. The caller
// has counted the function in.
func (r *groupRun) take(fn func() error, cfn func(context.Context) error) {
	g := r.group
	ex := g.ex
	if g.limit < 0 && ex.inline == nil { // an inline executor chooses among all
		r.callFor(fn, cfn)
		return
	}
	g.mu.Lock()
	t := g.free.take(&ex.groupTasks)
	t.Exec, t.Body, t.groupFunction = r.exec, &r.Body, groupFunction{fn, cfn}
	if g.limit >= 0 && g.active >= g.limit {
		g.enqueue(t)
		var comes chan struct{}
		if ex.inline == nil && !isInOnEnd(workerHere()) { // on an inline executor nobody else runs the functions
			comes = make(chan struct{})
			t.turn.comes = comes
		}
		g.mu.Unlock()
		if comes != nil {
			Blocking(func() { xsync.Await(comes, nil) })
		}
		return
	}
	if g.limit >= 0 {
		g.active++
	}
	g.mu.Unlock()
	ex.inject(&t.Item)
	ex.drive(nil)
}

// takeInTask makes t, which w's task has given to the group, available to the workers when its turn comes. If many
// functions wait for theirs, it waits until t's comes: so the queue stays short, and the task is woken once for many. A
// function of the group itself calls t instead, where an errgroup would hang. A function of OnEnd does neither.
func (r *groupRun) takeInTask(w *Worker, t *groupTask) {
	switch hasTurn, comes := r.takeTurn(t, w); {
	case hasTurn && t.turn.lent:
		r.callInGo(w, t)
	case hasTurn:
		r.submit(w, t)
	case comes != nil:
		Blocking(func() { r.awaitTurn(t, comes) })
	}
}

// takeTurn gives t a turn, or puts it into the queue. If w, whose task calls Go, is then to wait, comes is closed when
// t's turn comes. It is nil otherwise. The turn may be lent: then w is to call t. w may be nil. Without a limit it is
// always t's turn.
func (r *groupRun) takeTurn(t *groupTask, w *Worker) (hasTurn bool, comes chan struct{}) {
	g := r.group
	if g.limit < 0 {
		return true, nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.active < g.limit {
		g.active++
		return true, nil
	}
	if w != nil && g.queued >= patientTurns && !isInOnEnd(w) {
		own := w.body == &r.Body
		// If all functions that have a turn wait in Go, an errgroup waits for ever: none of them ends, so no turn
		// comes. Then no function of the run waits any more, since what gives to its own group in this way does so
		// again and again.
		if own && r.inGo+1 >= g.active {
			r.callsInGo = true
		}
		switch {
		case r.waitsInGo(w, own):
			comes = make(chan struct{})
			t.turn.comes, t.turn.ofOwn = comes, own
			if own {
				r.inGo++
			}
		case own && r.callsInGo && w.inline == nil && partsOf(w).inGo < maxInGo:
			t.turn.lent = true
			return true, nil
		}
	}
	g.enqueue(t)
	return false, comes
}

// mayWaitFor reports whether w's task, which is no function of the group, may wait in Go for the group of r. What a
// function of the group has started may not: that function would have to end first. Nor may a task with a slot of a
// limit, which functions of the group may need, or one on top of a task that waits and may be such a function.
func mayWaitFor(w *Worker, r *groupRun) bool {
	return w.body != nil && w.inline == nil && !w.thread.isLent() && !partsOf(w).slots.any() &&
		w.waits.run == nil && w.waits.nested == 0 && partsOf(w).inGo == 0 && !w.run().isWithin(r.of)
}

// waitsInGo reports whether w's task is to wait in Go, for which there is no turn: because many functions are queued.
// own says that the task is a function of the group. The caller holds groupQueue.mu.
func (r *groupRun) waitsInGo(w *Worker, own bool) bool {
	if !own {
		return mayWaitFor(w, r)
	}
	return !r.callsInGo && w.inline == nil && !partsOf(w).slots.any()
}

// awaitTurn waits until comes is closed, because t has its turn. There may be dependencies that waitsInGo does not see.
// So it gives up if a worker that waits lacks a spare, or if no function has had its turn for a while: for a longer
// while at first. Functions of the group may wait for each other again and again, for a lock that the caller of Go
// holds: they are patient only once. It also gives up when functions of the group begin to call others in Go.
func (r *groupRun) awaitTurn(t *groupTask, comes chan struct{}) {
	g := r.group
	given := ^uint64(0)
	for looks := 0; ; looks++ {
		short := g.ex.spares.IsShort()
		g.mu.Lock()
		if xsync.IsClosed(comes) {
			g.mu.Unlock()
			return // t may have ended
		}
		if g.given != given {
			given, looks = g.given, 0
		}
		stalls := looks >= turnLooks || looks > 0 && (g.stuck == given+1 || t.turn.ofOwn && r.gaveUp)
		if stalls {
			g.stuck = given + 1
			r.gaveUp = r.gaveUp || t.turn.ofOwn
		}
		if short || stalls || t.turn.ofOwn && r.callsInGo {
			r.leaveGo(t)
			g.mu.Unlock()
			return
		}
		g.mu.Unlock()
		xsync.AwaitFor(comes, lookInterval)
	}
}

// callInGo calls t in Go, on top of the function of the group that w runs, whose turn t has meanwhile. The functions
// that t gives away are not run here.
func (r *groupRun) callInGo(w *Worker, t *groupTask) {
	forksOf(w).attendIfAsked()
	defer w.exitNested(w.enterNested(w.waits.run, w.waits.mark, w.waits.only))
	partsOf(w).inGo++
	defer func() { partsOf(w).inGo-- }()
	w.runOne(&t.Item)
}

// offer makes t available to the workers when its turn comes.
func (r *groupRun) offer(w *Worker, t *groupTask) {
	if hasTurn, _ := r.takeTurn(t, nil); hasTurn {
		r.submit(w, t)
	}
}

// submit makes t available to the workers. w is the calling worker, or nil.
func (r *groupRun) submit(w *Worker, t *groupTask) {
	switch {
	case w == nil:
		r.group.ex.inject(&t.Item)
		r.group.ex.drive(nil)
	case w.body == &r.Body:
		w.Push(&t.Item)
	default:
		r.of.visit(w) // I5
		w.Push(&t.Item)
		// D1(push), for the helpers of this run.
		if w.core.sleepingHelpers.Load() > 0 {
			w.core.wakeHelpers(r.of, w)
		}
	}
}
