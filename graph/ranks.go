package graph

import (
	"slices"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/internal/xsync"
)

// The ranks of a run with several priorities are queues of its ready tasks. Workers push and steal tickets instead of
// tasks. A ticket entitles the worker that runs it to begin one task: the first in the queues, not the one for which
// the ticket was made.
//
// There are as many tickets as tasks in the queues, except that a task is added before its ticket is made available. So
// a ticket always finds a task. As long as a ticket is outstanding, a task is in the queues and the run is in progress.
type ranks struct {
	ticket executor.Item // the item of all tickets: it may be in several places at once
	levels []Priority    // by task

	mu     xsync.Mutex
	takes  uint64               // tasks taken in this run
	queues [High - Low + 1]fifo // from Low on
}

func newRanks(r *runState, levels []Priority) *ranks {
	return &ranks{ticket: executor.Item{Exec: execTicket, Body: &r.Body}, levels: levels}
}

// add appends ready tasks to their queues. The caller then makes a ticket available for each.
func (q *ranks) add(tasks ...uint32) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, i := range tasks {
		q.of(q.levels[i]).add(i)
	}
}

// take removes the task that a ticket is to begin.
func (q *ranks) take() uint32 {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.takes++
	p := High
	switch q.takes % takesPerTurn {
	case 0:
		p = Low
	case takesPerTurn / 2:
		p = Normal
	}
	if q.of(p).isEmpty() {
		for p = High; q.of(p).isEmpty(); {
			p--
		}
	}
	return q.of(p).take()
}

func (q *ranks) of(p Priority) *fifo { return &q.queues[p-Low] }

// A fifo is a queue of tasks in the order in which they became ready. The first is at head.
type fifo struct {
	tasks []uint32
	head  int
}

func (q *fifo) isEmpty() bool { return q.head == len(q.tasks) }

func (q *fifo) add(i uint32) { q.tasks = append(q.tasks, i) }

func (q *fifo) take() uint32 {
	i := q.tasks[q.head]
	if q.head++; 2*q.head >= len(q.tasks) { // no more tasks are moved than were taken
		q.tasks = slices.Delete(q.tasks, 0, q.head)
		q.head = 0
	}
	return i
}

// execTicket takes a task from the ranks and runs it. It does not return the task as the item to run next, because
// other items may run before a returned item.
func execTicket(w *executor.Worker, it *executor.Item) *executor.Item {
	r := stateOf(it.Body)
	i := r.ranks.take()
	l := r.local(w)
	l.begun = append(l.begun, i)
	t := &r.records[i]
	next := t.Exec(w, &t.Item)
	r.endTicket(w)
	return next
}

// endTicket removes and returns the innermost task that worker w has begun by a ticket. There are several such tasks
// when one waits for a nested run.
func (r *runState) endTicket(w *executor.Worker) *record {
	l := r.local(w)
	last := len(l.begun) - 1
	i := l.begun[last]
	l.begun = l.begun[:last]
	return &r.records[i]
}

// inject makes a task that had been put aside available to all workers.
func (r *runState) inject(it *executor.Item) {
	if r.ranks != nil {
		r.ranks.add(r.index(recordOf(it)))
		it = &r.ranks.ticket
	}
	r.Run().Inject(it)
}
