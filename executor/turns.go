package executor

import (
	"context"
	"slices"

	"github.com/magpie-go/magpie/internal/xsync"
)

// turns are the turns that the functions of a Group with a limit take. In a group without one they have the functions
// from outside that no worker has taken yet.
type turns struct {
	mu          xsync.Mutex // guards what follows, and the fields of GroupTask
	active      int         // functions that run or were given to the workers; with a limit
	first, last *groupTask  // functions that wait for their turn or, without a limit, for a worker
	queued      int         // how many these are
	given       uint64      // how many were taken out of the queue
	stuck       uint64      // given+1 when a task that waited for its turn gave up last; 0: none has
	calls       bool        // groupRun.inbox is in a lane or in the injector, or about to be
	free        groupTasks
}

// A groupTurn is where a caller of Go waits for the turn of its function.
type groupTurn struct {
	comes chan struct{} // closed when it comes; nil if no caller waits for that
}

// take makes a function from outside available to the workers when its turn comes, and waits for that: so each caller
// has one function in the queue at most. The caller has counted the function in.
func (r *groupRun) take(fn func() error, cfn func(context.Context) error) {
	g := r.group
	ex := g.ex
	g.mu.Lock()
	t := g.free.take(&ex.groupTasks)
	t.Exec, t.Body, t.fn, t.cfn = r.exec, &r.Body, fn, cfn
	it := &t.Item
	switch {
	case g.limit < 0 && ex.inline != nil: // it chooses among all
	case g.limit >= 0 && g.active < g.limit:
		g.active++
	default:
		g.enqueue(t)
		if g.limit >= 0 {
			var comes chan struct{}
			if ex.inline == nil { // else nobody else runs the functions
				comes = make(chan struct{})
				t.turn.comes = comes
			}
			g.mu.Unlock()
			if comes != nil {
				Blocking(func() { xsync.Await(comes, nil) })
			}
			return
		}
		if g.calls {
			g.mu.Unlock()
			return
		}
		g.calls = true
		it = &r.inbox
	}
	g.mu.Unlock()
	ex.inject(it)
	ex.drive(nil)
}

// takeInTask makes t, which w's task has given to the group, available to the workers when its turn comes. If many
// functions wait for theirs, it waits until t's comes: so the queue stays short, and the task is woken once for many.
func (r *groupRun) takeInTask(w *Worker, t *groupTask) {
	switch hasTurn, comes := r.takeTurn(t, w); {
	case hasTurn:
		r.submit(w, t)
	case comes != nil:
		Blocking(func() { r.group.awaitTurn(comes) })
	}
}

// mayWaitFor reports whether w's task may wait in Go for the group of r. A task of the group may not: a function of it
// would have to end first. Nor may a task with a slot of a limit, which functions of the group may need, or one on top
// of a task that waits and may be such a function.
func (w *Worker) mayWaitFor(r *groupRun) bool {
	return w.body != nil && w.inline == nil && w.guest.run == nil && w.slots.own == nil && len(w.slots.kept) == 0 &&
		w.waits.run == nil && !w.run().isWithin(r.of)
}

// awaitTurn waits until comes is closed. There may be dependencies that mayWaitFor does not see. So it gives up if a
// worker that waits lacks a spare, or if no function has had its turn for a while: for a longer while at first.
func (g *Group) awaitTurn(comes chan struct{}) {
	given := ^uint64(0)
	for looks := 0; !xsync.IsClosed(comes) && !g.ex.spares.IsShort(); looks++ {
		xsync.AwaitFor(comes, lookInterval)
		g.mu.Lock()
		if g.given != given {
			given, looks = g.given, 0
		}
		gaveUp := looks >= turnLooks || g.stuck == given+1
		if gaveUp {
			g.stuck = given + 1
		}
		g.mu.Unlock()
		if gaveUp {
			return
		}
	}
}

// execInbox takes functions from outside. The oldest is the next to run, and the youngest the first that thieves find,
// after the inbox itself.
func execInbox(w *Worker, it *Item) (next *Item) {
	w.uncount()
	g := groupRunOf(it.Body).group
	var batch [inboxBatch]*groupTask
	n := 0
	g.mu.Lock()
	for ; n < len(batch) && g.first != nil; n++ {
		batch[n] = g.dequeue()
	}
	g.calls = g.first != nil
	calls := g.calls
	g.mu.Unlock() // if the inbox does not call, another thread may inject it from here on
	if calls {
		w.Push(it)
	}
	for _, t := range slices.Backward(batch[1:n]) {
		w.Push(&t.Item)
	}
	return &batch[0].Item
}

func (g *Group) enqueue(t *groupTask) {
	if g.first == nil {
		g.first = t
	} else {
		g.last.next = t
	}
	g.last = t
	g.queued++
}

// dequeue takes the first function of a queue that is not empty.
func (g *Group) dequeue() *groupTask {
	t := g.first
	g.first, t.next = t.next, nil
	g.queued--
	g.given++
	return t
}

// takeTurn gives t a turn, or puts it into the queue. If w, whose task calls Go, is then to wait, comes is closed when
// t's turn comes. It is nil otherwise. w may be nil. Without a limit it is always t's turn.
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
	if w != nil && g.queued >= patientTurns && w.mayWaitFor(r) {
		comes = make(chan struct{})
		t.turn.comes = comes
	}
	g.enqueue(t)
	return false, comes
}

// reserve gives the caller a turn for a function, if the limit allows it.
func (g *Group) reserve() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.active >= g.limit {
		return false
	}
	g.active++
	return true
}

// turn ends the turn of a function. It returns the function whose turn is next, or nil.
func (g *Group) turn() *groupTask {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.first == nil {
		g.active--
		return nil
	}
	t := g.dequeue()
	if t.turn.comes != nil {
		xsync.Close(t.turn.comes)
		t.turn.comes = nil
	}
	return t
}
