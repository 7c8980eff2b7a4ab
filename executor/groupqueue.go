package executor

import (
	"github.com/magpie-go/magpie/internal/pad"
	"github.com/magpie-go/magpie/internal/xatomic"
	"github.com/magpie-go/magpie/internal/xsync"
)

// A groupQueue holds the functions of a Group that wait: with a limit for their turn to run, and without one, in the
// inbox, for a worker that takes them.
type groupQueue struct {
	limit int          // of functions that run at a time; negative: none; constant while the group is used
	full  xatomic.Bool // the inbox has a full batch and another; written under mu

	// Workers read the fields before, and those of Group, for each function. Callers of Go write those after for each.
	_ pad.Line

	mu          xsync.Mutex // guards what follows, and the fields of GroupTask
	groupInbox              // without a limit
	active      int         // functions that run or were given to the workers; with a limit
	first, last *groupTask  // functions that wait for their turn
	queued      int         // how many these are
	given       uint64      // how many were taken out of the queue
	stuck       uint64      // given+1 when a task that waited for its turn gave up last; 0: none has
	free        groupTasks
}

// A groupInbox has the batches that no worker has taken. groupQueue.mu guards it. Its fields are beside mu: as a rule
// one cache line goes from core to core.
type groupInbox struct {
	oldest, newest *groupBatch
	filled         int  // functions in newest; all others are full
	calls          bool // groupRun.inbox is in a lane, in the injector or withheld, or is run, or is about to be
	drained        bool // it calls, and had only the batch taken last; the worker that runs the inbox reads it without mu
}

// A groupBatch is functions from outside that were given one after the other. While it is in the inbox, groupQueue.mu
// guards it. Then it belongs to workers, as a span of a graph does.
//
// The item is always in a deque, or a worker has just taken it out and pushes it again or finds the batch empty. The
// worker that has opened the batch claims functions from the front, one at a time, wherever the item is. A thief that
// gets the item takes the upper half, as a batch of its own. So no function is hidden behind one that runs.
type groupBatch struct {
	Item    // first: see groupBatchOf
	waiting xatomic.Span
	owner   xatomic.Plain[int] // the worker that claims from it
	refs    xatomic.Int32      // one for the item, one for the owner while attached; the last to drop it keeps the batch
	next    *groupBatch        // in the inbox, or in a store
	_       pad.Line

	functions [maxBatch]groupFunction
}

// groupTasks holds tasks out of use for one worker, owner only, or for one group, guarded by groupQueue.mu.
type groupTasks struct {
	first *groupTask // n of them
	full  *groupTask // groupTaskBlock more, or nil
	n     int
}

// enqueue adds t at the end. The caller holds mu.
func (q *groupQueue) enqueue(t *groupTask) {
	if q.first == nil {
		q.first = t
	} else {
		q.last.next = t
	}
	q.last = t
	q.queued++
}

// dequeue takes the first function of a queue that is not empty. The caller holds mu.
func (q *groupQueue) dequeue() *groupTask {
	t := q.first
	q.first, t.next = t.next, nil
	q.queued--
	q.given++
	return t
}

// reserve gives the caller a turn for a function, if the limit allows it.
func (q *groupQueue) reserve() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.active >= q.limit {
		return false
	}
	q.active++
	return true
}

// passTurn ends the turn of a function, and gives it to the next that waits. It returns that function, or nil.
func (q *groupQueue) passTurn() *groupTask {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.first == nil {
		q.active--
		return nil
	}
	t := q.dequeue()
	if comes := t.turn.comes; comes != nil {
		groupRunOf(t.Body).leaveGo(t)
		xsync.Close(comes)
	}
	return t
}

// leaveGo notes that the caller of Go that has given t waits no longer. The caller holds groupQueue.mu.
func (r *groupRun) leaveGo(t *groupTask) {
	t.turn.comes = nil
	if t.turn.ofOwn {
		t.turn.ofOwn = false
		r.inGo--
	}
}
