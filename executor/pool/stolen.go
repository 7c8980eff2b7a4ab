package pool

import (
	"github.com/magpie-go/magpie/internal/pad"
	"github.com/magpie-go/magpie/internal/xatomic"
	"github.com/magpie-go/magpie/internal/xsync"
)

// stolen has a queue for each drainer from which others steal. Only its owner adds tasks to a queue, when it is empty.
//
// A thief moves tasks in two steps, and between these they are in no queue. A drainer that looks at all queues one
// after the other, and finds each of them empty, may so have missed tasks that were moving, and must not leave: the
// others might need it. It therefore looks at the numbers of moves as well. No task is left outside its own drainer's
// hands if no move was in progress during the look: P2 of executor/protocol/pool.md.
type stolen struct {
	queues []stolenQueue
	victim func(q *stolen, d *drainer) int
	amount func(n int) int
	fifo   bool

	_     pad.Line
	begun xatomic.Int64 // moves begun; counted before the victim's lock is taken
	ended xatomic.Int64 // moves ended; counted after the tasks are in the thief's queue
	_     pad.Line
}

// A stolenQueue has tasks[first:end]. The owner takes from the end and thieves from the front or, if fifo is set, the
// other way round. The capacity of tasks is that of the longest queue at the start. No queue gets longer: a thief's
// queue is empty.
type stolenQueue struct {
	mu         xsync.Mutex
	first, end int
	tasks      []int         // entries outside first and end are the owner's
	left       xatomic.Int64 // end-first; written under mu, read by any drainer without it
	_          pad.Line
}

func newStolen(s *run, fifo bool) queue {
	row := stealings[s.opts.Stealing]
	q := &stolen{queues: make([]stolenQueue, len(s.drainers)), victim: row.victim, amount: row.amount, fifo: fifo}
	for i := range q.queues {
		own := &q.queues[i]
		own.tasks = dealt(s, i)
		own.set(0, len(own.tasks))
		own.tasks = own.tasks[:cap(own.tasks)]
	}
	return q
}

// set makes tasks[first:end] the queue. The caller holds mu, or no other drainer has seen the queue.
func (q *stolenQueue) set(first, end int) {
	q.first, q.end = first, end
	q.left.Store(int64(end - first))
}

// next returns n tasks from the end or the front, in the order of the queue. The caller holds mu, and calls drop when
// it has read them: the owner of a queue without tasks writes to it without mu.
func (q *stolenQueue) next(n int, fromEnd bool) []int {
	if fromEnd {
		return q.tasks[q.end-n : q.end]
	}
	return q.tasks[q.first : q.first+n]
}

// drop removes what next has returned. The caller holds mu.
func (q *stolenQueue) drop(n int, fromEnd bool) {
	if fromEnd {
		q.set(q.first, q.end-n)
	} else {
		q.set(q.first+n, q.end)
	}
}

func (q *stolen) take(d *drainer) (int, outcome) {
	own := &q.queues[d.index]
	if own.left.Load() == 0 { // it stays 0, as only the owner adds
		return q.steal(d)
	}
	d.lock(&own.mu)
	if own.first == own.end {
		own.mu.Unlock()
		return q.steal(d)
	}
	number := own.next(1, !q.fifo)[0]
	own.drop(1, !q.fifo)
	own.mu.Unlock()
	return number, taken
}

// steal moves tasks to d's queue, which is empty, and takes one of them. If all tasks of a thief went to its queue
// first, two thieves could take the last task from each other for ever.
func (q *stolen) steal(d *drainer) (number int, got outcome) {
	// P2(look): read the moves ended, look at the queues, read the moves begun. Pairs with P2(move).
	ended := q.ended.Load()
	index := q.victim(q, d)
	if index < 0 {
		d.stats.FailedSteals++
		// Both are equal only if no move was in progress at any time between the two loads: neither number falls, and
		// no move ends before it begins.
		if q.begun.Load() != ended {
			return 0, again
		}
		return 0, none
	}
	// P2(move): count the move, then take the tasks away. A look that misses them sees the count.
	q.begun.Add(1)
	number, n := q.move(&q.queues[index], &q.queues[d.index], d)
	q.ended.Add(1)
	if n == 0 {
		d.stats.FailedSteals++
		return 0, again
	}
	d.stats.Steals++
	d.stats.Moved += n
	return number, taken
}

// move takes n tasks from a victim, puts all but the one that d would take from its queue first into that queue, and
// returns that one. It holds one lock at a time: two thieves may steal from each other.
func (q *stolen) move(victim, own *stolenQueue, d *drainer) (number, n int) {
	d.lock(&victim.mu)
	if n = victim.end - victim.first; n > 0 {
		n = q.amount(n)
		moved := victim.next(n, q.fifo)
		if q.fifo {
			number = moved[0]
			copy(own.tasks, moved[1:])
		} else {
			number = moved[n-1]
			copy(own.tasks, moved[:n-1])
		}
		victim.drop(n, q.fifo)
	}
	victim.mu.Unlock()
	if n > 1 {
		d.lock(&own.mu)
		own.set(0, n-1)
		own.mu.Unlock()
	}
	return number, n
}

// neighbour chooses the first queue after d's, in a circle, that is not empty.
func neighbour(q *stolen, d *drainer) int {
	n := len(q.queues)
	for i := 1; i < n; i++ {
		if at := (d.index + i) % n; q.queues[at].left.Load() > 0 {
			return at
		}
	}
	return -1
}

// random chooses among the queues that are not empty, each with the same probability: the k-th of them takes the place
// of the choice so far with the probability 1/k.
func random(q *stolen, d *drainer) int {
	chosen, seen := -1, uint64(0)
	for i := range q.queues {
		if i == d.index || q.queues[i].left.Load() == 0 {
			continue
		}
		seen++
		if seen == 1 || d.random.Uint64()%seen == 0 {
			chosen = i
		}
	}
	return chosen
}

func one(int) int { return 1 }

func half(n int) int { return (n + 1) / 2 }

func whole(n int) int { return n }
