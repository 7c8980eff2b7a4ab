package executor_test

import (
	"errors"
	"sync"
	"sync/atomic"

	"github.com/magpie-go/magpie/executor"
)

// A layer is a job of functions that may push others: the smallest layer of one's own above the executor. It is run
// once.
type layer struct {
	executor.Body
	name  string
	first step

	// left counts the items that exist and are not done, and the workers between Enter and Leave. The items keep it
	// above zero while any is left, the workers while they have items to count.
	left atomic.Int64

	mu       sync.Mutex
	failures []error
}

// A step is what an item does. It returns the item to run next: nil, one made with layer.item, or its own item to be
// run again.
type step func(w *executor.Worker, self *executor.Item) *executor.Item

func newLayer(name string, first step) *layer {
	l := &layer{name: name, first: first}
	l.Body.Init(l)
	return l
}

func (l *layer) Name() string                                   { return l.name }
func (l *layer) Begin(*executor.JobRun) (*executor.Item, error) { return l.item(l.first), nil }
func (l *layer) Enter(*executor.Worker)                         { l.left.Add(1) }
func (l *layer) Flush(*executor.Worker)                         {}
func (l *layer) Release()                                       {}
func (l *layer) push(w *executor.Worker, f step)                { w.Push(l.item(f)) }

// item makes an item, to be pushed or returned.
func (l *layer) item(f step) *executor.Item {
	l.left.Add(1)
	return &executor.Item{
		Body: &l.Body,
		Exec: func(w *executor.Worker, self *executor.Item) *executor.Item {
			next := f(w, self)
			if next != self {
				l.left.Add(-1)
			}
			return next
		},
	}
}

func (l *layer) Leave(*executor.Worker) {
	if l.left.Add(-1) == 0 {
		l.Run().Finish(errors.Join(l.failures...))
	}
}

func (l *layer) Fail(_ *executor.Worker, _ *executor.Item, err error) *executor.Item {
	l.mu.Lock()
	l.failures = append(l.failures, err)
	l.mu.Unlock()
	l.Run().Abort(err)
	l.left.Add(-1)
	return nil
}

// endless is a job of one item that runs again and again until told to stop.
func endless(stop *atomic.Bool) *layer {
	return newLayer("endless", func(_ *executor.Worker, self *executor.Item) *executor.Item {
		if stop.Load() {
			return nil
		}
		return self
	})
}
