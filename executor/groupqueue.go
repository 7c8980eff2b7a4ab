package executor

import "github.com/magpie-go/magpie/internal/xsync"

// A groupQueue holds the functions of a Group that wait: with a limit for their turn to run, and without one, in the
// inbox, for a worker that takes them.
type groupQueue struct {
	limit int // of functions that run at a time; negative: none; constant while the group is used

	mu          xsync.Mutex // guards what follows, and the fields of GroupTask
	groupInbox              // without a limit
	active      int         // functions that run or were given to the workers; with a limit
	first, last *groupTask  // functions that wait for their turn
	queued      int         // how many these are
	given       uint64      // how many were taken out of the queue
	stuck       uint64      // given+1 when a task that waited for its turn gave up last; 0: none has
	free        groupTasks
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
