package executor

import (
	"github.com/magpie-go/magpie/deque"
	"github.com/magpie-go/magpie/internal/pad"
	"github.com/magpie-go/magpie/internal/xsync"
)

// An injector is the queue of items that come from outside: the master queue of document 000 (Algorithm 1). Submitters
// share the owner's end of a deque under a lock, workers steal the oldest without one. An item from outside never goes
// to a worker's deque, whose owner alone may push.
type injector struct {
	queue *deque.Deque[Item] // constant; every thief reads it again and again
	_     pad.Line
	mu    xsync.Mutex // held by whoever pushes
}

func newInjector() injector { return injector{queue: deque.New[Item](injectorCapacity)} }

func (q *injector) push(it *Item) {
	q.mu.Lock()
	q.queue.Push(it)
	q.mu.Unlock()
}

func (q *injector) steal() (*Item, deque.Outcome) { return q.queue.Steal() }

func (q *injector) isEmpty() bool { return q.queue.IsEmpty() }

func (q *injector) len() int { return q.queue.Len() }
