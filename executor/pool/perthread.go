package pool

import "github.com/magpie-go/magpie/internal/pad"

// newPerThread deals the tasks in turn. A drainer takes the last task of its queue.
func newPerThread(s *run) queue { return newDealt(s, false) }

// newPerThreadFIFO deals the tasks in turn. A drainer takes the first task of its queue.
func newPerThreadFIFO(s *run) queue { return newDealt(s, true) }

func newDealt(s *run, fifo bool) queue {
	if s.opts.Stealing != NoStealing {
		return newStolen(s, fifo)
	}
	q := &private{own: make([]privateQueue, len(s.drainers)), fifo: fifo}
	for i := range q.own {
		q.own[i].tasks = dealt(s, i)
	}
	return q
}

// dealt returns the tasks of drainer i.
func dealt(s *run, i int) []int {
	n := len(s.drainers)
	tasks := make([]int, 0, (len(s.tasks)+n-1)/n)
	for ; i < len(s.tasks); i += n {
		tasks = append(tasks, i)
	}
	return tasks
}

// private has a queue for each drainer that no other drainer touches. It is plain, so the race detector checks that.
type private struct {
	own  []privateQueue
	fifo bool
}

type privateQueue struct {
	tasks []int
	_     pad.Line
}

func (q *private) take(d *drainer) (int, outcome) {
	own := &q.own[d.index]
	last := len(own.tasks) - 1
	if last < 0 {
		return 0, none
	}
	if q.fifo {
		number := own.tasks[0]
		own.tasks = own.tasks[1:]
		return number, taken
	}
	number := own.tasks[last]
	own.tasks = own.tasks[:last]
	return number, taken
}
