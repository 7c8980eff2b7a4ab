package executor

import (
	"iter"

	"github.com/magpie-go/magpie/deque"
	"github.com/magpie-go/magpie/internal/pad"
	"github.com/magpie-go/magpie/internal/xsync"
)

// An injector is the queue that all workers share: the master queue of document 000 (Algorithm 1). It has items that
// come from outside, and items that workers give away. Threads that push share the owner's end of a deque under a lock.
// Workers steal the oldest item without a lock.
type injector struct {
	queue *deque.Deque[Item] // constant; thieves read it often
	_     pad.Line
	mu    xsync.Mutex // held to push
}

func newInjector() injector { return injector{queue: deque.New[Item](injectorCapacity)} }

func (q *injector) push(it *Item) {
	q.mu.Lock()
	q.queue.Push(it)
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
	q.mu.Lock()
	q.queue.Push(first)
	for it := range others {
		q.queue.Push(it)
		n++
	}
	q.mu.Unlock()
	return n
}

func (q *injector) steal() (*Item, deque.Outcome) { return q.queue.Steal() }

func (q *injector) isEmpty() bool { return q.queue.IsEmpty() }

func (q *injector) len() int { return q.queue.Len() }
