package pool

import "github.com/magpie-go/magpie/internal/xsync"

// byPriority is a heap of tasks: no task comes before its parent, which for entry i is entry (i-1)/2.
type byPriority struct {
	mu    xsync.Mutex
	tasks []task // the run's
	heap  []int  // numbers of tasks
}

func newByPriority(s *run) queue {
	q := &byPriority{tasks: s.tasks, heap: make([]int, len(s.tasks))}
	for i := range q.heap {
		q.heap[i] = i
	}
	for i := len(q.heap)/2 - 1; i >= 0; i-- {
		q.down(i)
	}
	return q
}

// before reports whether task a begins before task b.
func (q *byPriority) before(a, b int) bool {
	if x, y := q.tasks[a].priority, q.tasks[b].priority; x != y {
		return x > y
	}
	return a < b
}

// down moves entry i down until no child of it comes before it.
func (q *byPriority) down(i int) {
	for {
		child := 2*i + 1
		if child >= len(q.heap) {
			return
		}
		if right := child + 1; right < len(q.heap) && q.before(q.heap[right], q.heap[child]) {
			child = right
		}
		if q.before(q.heap[i], q.heap[child]) {
			return
		}
		q.heap[i], q.heap[child] = q.heap[child], q.heap[i]
		i = child
	}
}

func (q *byPriority) take(d *drainer) (int, outcome) {
	d.lock(&q.mu)
	defer q.mu.Unlock()
	last := len(q.heap) - 1
	if last < 0 {
		return 0, none
	}
	number := q.heap[0]
	q.heap[0] = q.heap[last]
	q.heap = q.heap[:last]
	q.down(0)
	return number, taken
}
