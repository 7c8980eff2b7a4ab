package graph

import (
	"slices"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/internal/xsync"
)

// The ranks of a run whose tasks have several priorities are its tasks that are ready, in queues. What workers push, steal and
// are woken for are tickets, and each entitles whoever runs it to begin one task: the first in the queues, whatever the ticket
// was made for.
//
// There are as many tickets as tasks in the queues, save that a task is added before its ticket is made available. So a ticket
// always finds a task; and while a ticket is still to come, a task is in the queues and the run in progress.
type ranks struct {
	ticket executor.Item // all of them: it may be in several places at once
	levels []Priority    // by task

	mu     xsync.Mutex
	takes  uint64               // tasks taken in this run
	queues [High - Low + 1]fifo // from Low on
}

func newRanks(r *runState, levels []Priority) *ranks {
	return &ranks{ticket: executor.Item{Exec: execTicket, Body: &r.Body}, levels: levels}
}

// add puts tasks that are ready at the ends of their queues. For each the caller then makes a ticket available.
func (q *ranks) add(tasks ...uint32) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, i := range tasks {
		q.of(q.levels[i]).add(i)
	}
}

// take takes the task to begin, for a ticket.
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

// A fifo has tasks in the order in which they became ready, from head on.
type fifo struct {
	tasks []uint32
	head  int
}

func (q *fifo) isEmpty() bool { return q.head == len(q.tasks) }

func (q *fifo) add(i uint32) { q.tasks = append(q.tasks, i) }

func (q *fifo) take() uint32 {
	i := q.tasks[q.head]
	if q.head++; 2*q.head >= len(q.tasks) { // no more are moved than were taken
		q.tasks = slices.Delete(q.tasks, 0, q.head)
		q.head = 0
	}
	return i
}

// execTicket runs the task that a ticket is for. That is not returned, to be run next, because other items may come before
// what is returned.
func execTicket(w *executor.Worker, it *executor.Item) *executor.Item {
	r := stateOf(it.Body)
	i := r.ranks.take()
	l := &r.locals[w.ID()]
	l.begun = append(l.begun, i)
	t := &r.records[i]
	next := t.Exec(w, &t.Item)
	r.endTicket(w)
	return next
}

// endTicket takes back which task worker w has begun by a ticket, of those that have not ended the last. There are several when
// one waits for a run that its own is a part of.
func (r *runState) endTicket(w *executor.Worker) *record {
	l := &r.locals[w.ID()]
	last := len(l.begun) - 1
	i := l.begun[last]
	l.begun = l.begun[:last]
	return &r.records[i]
}

// inject makes a task that was put aside available to all workers.
func (r *runState) inject(it *executor.Item) {
	if r.ranks != nil {
		r.ranks.add(r.index(recordOf(it)))
		it = &r.ranks.ticket
	}
	r.Run().Inject(it)
}
