package pool

import "github.com/magpie-go/magpie/internal/xsync"

// centralised is one queue for all drainers. The tasks are numbered in the order of adding, so those left are a range.
type centralised struct {
	mu         xsync.Mutex
	first, end int
}

func newCentralised(s *run) queue { return &centralised{end: len(s.tasks)} }

func (q *centralised) take(d *drainer) (int, outcome) {
	d.lock(&q.mu)
	defer q.mu.Unlock()
	if q.first == q.end {
		return 0, none
	}
	q.first++
	return q.first - 1, taken
}
