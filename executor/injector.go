package executor

import (
	"iter"

	"github.com/magpie-go/magpie/deque"
	"github.com/magpie-go/magpie/internal/pad"
	"github.com/magpie-go/magpie/internal/xatomic"
	"github.com/magpie-go/magpie/internal/xsync"
)

// An injector is the queue that all workers share: the master queue of document 000 (Algorithm 1). It has items that
// come from outside, and items that workers give away. Threads that push share the owner's end of a deque under a lock.
// Workers steal the oldest item without a lock.
//
// There is one queue for each priority of runs. Those of High and Low are looked at only while ranked is not 0.
type injector struct {
	queue  *deque.Deque[Item] // of Normal; constant; thieves read it often
	ranked xatomic.Int32      // the number of runs in progress that are not Normal
	_      pad.Line
	mu     xsync.Mutex           // held to push
	others [2]*deque.Deque[Item] // of Low and High; made under mu before ranked is first counted up, then constant
}

func newInjector() injector { return injector{queue: deque.New[Item](injectorCapacity)} }

// beginRun prepares for items of a run of that priority, before its first item.
func (q *injector) beginRun(p Priority) {
	if p == Normal {
		return
	}
	q.mu.Lock()
	if q.others[0] == nil {
		for i := range q.others {
			q.others[i] = deque.New[Item](injectorCapacity)
		}
	}
	q.mu.Unlock()
	q.ranked.Add(1) // P1: publishes others
}

// endRun undoes beginRun, after the run's last item was taken.
func (q *injector) endRun(p Priority) {
	if p != Normal {
		q.ranked.Add(-1)
	}
}

// of returns the queue of a priority. For others than Normal there must be such a run, or ranked not 0.
func (q *injector) of(p Priority) *deque.Deque[Item] {
	switch p {
	case Low:
		return q.others[0]
	case High:
		return q.others[1]
	}
	return q.queue
}

func (q *injector) push(it *Item) {
	p := it.Body.level()
	q.mu.Lock()
	q.of(p).Push(it)
	q.mu.Unlock()
}

// pushAll pushes first and then the others, if there are any, without another thread's items in between. It returns
// their number.
func (q *injector) pushAll(first *Item, others iter.Seq[*Item]) int {
	if others == nil {
		q.push(first)
		return 1
	}
	n := 1 // on the heap: the loop is a closure
	queue := q.of(first.Body.level())
	q.mu.Lock()
	queue.Push(first)
	for it := range others {
		queue.Push(it)
		n++
	}
	q.mu.Unlock()
	return n
}

// steal takes the oldest item of the highest priority or, at some takes, of another, see orderOf. take is the number of
// the worker's take.
func (q *injector) steal(take uint32) (*Item, deque.Outcome) {
	if q.isPlain() {
		return q.queue.Steal()
	}
	return q.stealFrom(orderOf(take))
}

// stealFrom takes the oldest item of the first queue in order that has one.
func (q *injector) stealFrom(order []Priority) (*Item, deque.Outcome) {
	for _, p := range order {
		if it, outcome := q.of(p).Steal(); outcome != deque.Empty {
			return it, outcome
		}
	}
	return nil, deque.Empty
}

// takesPerRound is how many takes from the injector there are to one that prefers Low, and to one that prefers Normal.
// So no run waits for ever.
const takesPerRound = 16

// orders holds the orders in which a take may look at the priorities. Most takes follow the first. In each round one
// take follows the second, and one the third.
var orders = [...][]Priority{{High, Normal, Low}, {Low, High, Normal}, {Normal, High, Low}}

// orderOf returns the order of the take of that number.
func orderOf(take uint32) []Priority {
	switch take % takesPerRound {
	case 0:
		return orders[1]
	case takesPerRound / 2:
		return orders[2]
	}
	return orders[0]
}

// levels returns the priorities of which there may be items.
func (q *injector) levels() []Priority {
	if q.isPlain() {
		return orders[2][:1]
	}
	return orders[0]
}

// isPlain reports whether every run in progress is Normal. Any item of another run is pushed after ranked has counted
// the run, so a thread that has announced its sleep before it looks may rely on it.
func (q *injector) isPlain() bool { return q.ranked.Load() == 0 }

func (q *injector) isEmpty() bool {
	return q.queue.IsEmpty() && (q.ranked.Load() == 0 || q.othersEmpty())
}

// othersEmpty reports whether the queues of High and Low are empty. ranked is not 0, or was a moment ago.
func (q *injector) othersEmpty() bool { return q.others[0].IsEmpty() && q.others[1].IsEmpty() }

func (q *injector) len() (n int) {
	for _, p := range q.levels() {
		n += q.of(p).Len()
	}
	return n
}

// newcomer takes an item for which a busy worker interrupts the work on items of priority own, if there is one: a
// submitted item of a higher priority, an item of a higher one from the lane of another worker, or a submitted item of
// that priority. At some takes it prefers submitted items of a lower priority, so that these do not wait for ever.
func (s *search) newcomer(own Priority) *Item {
	w := s.w
	q := &w.core.injector
	if q.isPlain() {
		it, _ := s.takeSubmitted()
		return it
	}
	s.takes++
	if s.takes%takesPerRound == 0 {
		if it := s.takeOf(orders[1], func(p Priority) bool { return p < own }); it != nil {
			return it
		}
	}
	if it := s.takeOf(orders[0], func(p Priority) bool { return p > own }); it != nil {
		return it
	}
	if it := s.stealAbove(own); it != nil {
		return it
	}
	it, _ := q.of(own).Steal()
	return it
}

// takeOf takes the oldest submitted item of the first priority in order that may be taken and has one.
func (s *search) takeOf(order []Priority, may func(Priority) bool) *Item {
	w := s.w
	for _, p := range order {
		if !may(p) {
			continue
		}
		if it, _ := w.core.injector.of(p).Steal(); it != nil {
			return it
		}
	}
	return nil
}

// aboveTries is how many items a busy worker takes from one lane to come to one of a higher priority. The first ones
// may be older items of another run. Arbitrary.
const aboveTries = 4

// stealAbove looks for an item of a priority above own in the lanes of the workers that run such items. Other items
// that it comes upon go to the worker's own lane or, if they are forks, to the injector, as in stealMany.
func (s *search) stealAbove(own Priority) *Item {
	w := s.w
	if own == High {
		return nil
	}
	for _, victim := range w.core.workers() {
		if victim == w || Priority(victim.seen.level.Load()) <= own {
			continue
		}
		for tries := 0; tries < aboveTries && victim.lane.Ask(); tries++ {
			it, _ := s.steal(victim)
			switch {
			case it == nil:
				continue
			case it.Body.level() > own:
				return it
			}
			s.keep(it)
		}
	}
	return nil
}
