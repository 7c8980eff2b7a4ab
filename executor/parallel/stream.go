package parallel

import (
	"context"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/internal/left"
	"github.com/magpie-go/magpie/internal/xatomic"
	"github.com/magpie-go/magpie/internal/xsync"
)

// streamAhead is how many elements of a stream for each worker are there in advance if no MaxAhead is given. Arbitrary:
// while the loop waits for a slow call, the other workers have so many each.
const streamAhead = 4

// A stream is a run that the goroutine of a loop gives elements, one after the other, and takes results from, in the
// same order. It implements executor.Job and executor.Hooks.
type stream[A, B any] struct {
	executor.Body
	name  string
	f     func(ctx context.Context, x A) (B, error)
	tasks executor.TaskSet
	r     *executor.JobRun // nil if the run has not begun
	slots []slot[A, B]     // element i is in slot i modulo their number

	// Of the loop's goroutine.
	begun, taken int  // elements
	released     bool // the loop gives no more
	abandoned    bool // the loop was left

	opener executor.Item // with which the run begins

	// left counts the opener, the calls that have not ended, one until the loop gives no more, and the workers between
	// Enter and Leave, each as streamWorker.
	left left.Count

	mu       xsync.Mutex
	failures []error
}

// A slot has an element of a stream, and then its result.
type slot[A, B any] struct {
	executor.Item
	x     A
	y     B
	ok    bool         // y is the result; published by ended
	ended xatomic.Bool // the call has ended, or was left out
}

// streamWorker is what a worker between Enter and Leave counts in left, where calls count 1.
const streamWorker = 1 << 40

func newStream[A, B any](o Options, name string, f func(ctx context.Context, x A) (B, error)) *stream[A, B] {
	s := &stream[A, B]{name: "parallel." + name, f: f}
	s.Body.Init(s)
	s.opener = executor.Item{Body: &s.Body, Exec: func(w *executor.Worker, _ *executor.Item) *executor.Item {
		s.r.Uncount(w)
		s.left.Out(1)
		return nil
	}}
	ahead := streamAhead * o.workers()
	if o.MaxAhead > 0 {
		ahead = max(o.MaxAhead, o.workers())
	}
	s.slots = make([]slot[A, B], ahead)
	for i := range s.slots {
		c := &s.slots[i]
		c.Body = &s.Body
		c.Exec = func(w *executor.Worker, _ *executor.Item) *executor.Item { return s.exec(w, c) }
	}
	return s
}

// begin has f called for x. There is room.
func (s *stream[A, B]) begin(x A) {
	c := &s.slots[s.begun%len(s.slots)]
	s.begun++
	c.x, c.ok = x, false
	c.ended.Store(false)
	s.left.In(1)
	s.r.Inject(&c.Item)
}

// isDue reports whether the loop is to take a result before the next element: the next is there, or there is no room.
func (s *stream[A, B]) isDue() bool { return s.begun-s.taken == len(s.slots) || s.isThere() }

// isLeft reports whether there is a result, or will be one, that the loop has not taken.
func (s *stream[A, B]) isLeft() bool { return s.taken < s.begun }

// isThere reports whether the next element's call has ended.
func (s *stream[A, B]) isThere() bool {
	return s.taken < s.begun && s.slots[s.taken%len(s.slots)].ended.Load()
}

// next waits for the next result. It returns false if there is none because the run was stopped.
func (s *stream[A, B]) next() (y B, ok bool) {
	s.r.Await(s.isThere)
	c := &s.slots[s.taken%len(s.slots)]
	s.taken++
	var none B
	y, c.y = c.y, none
	return y, c.ok
}

// release lets the run end when all calls have.
func (s *stream[A, B]) release() {
	if s.r != nil && !s.released {
		s.released = true
		s.out(1)
	}
}

// exec calls f, unless the run was stopped.
func (s *stream[A, B]) exec(w *executor.Worker, c *slot[A, B]) *executor.Item {
	var none A
	x := c.x
	c.x = none
	if s.Stopped() {
		s.r.SkipTask(w, &s.tasks.Tasks[0], nil)
		return s.end(c)
	}
	err := s.call(w, c, x)
	if c.ok = err == nil; !c.ok {
		s.fail(err)
	}
	return s.end(c)
}

func (s *stream[A, B]) call(w *executor.Worker, c *slot[A, B], x A) (err error) {
	if s.r.Observed() {
		return s.r.CallTask(w, &s.tasks.Tasks[0], func(ctx context.Context) (err error) {
			c.y, err = s.f(ctx, x)
			return err
		})
	}
	c.y, err = s.f(s.r.Context(), x)
	return err
}

// end tells the loop that a call has ended. The slot is then the loop's.
func (s *stream[A, B]) end(c *slot[A, B]) *executor.Item {
	c.ended.Store(true)
	s.r.Alert()
	s.left.Out(1) // not the end: the worker is counted
	return nil
}

// fail records the first failure, and any panic, and stops the run.
func (s *stream[A, B]) fail(err error) {
	s.mu.Lock()
	_, panicked := err.(*executor.PanicError)
	first := !s.r.Repeats(err) && (len(s.failures) == 0 || panicked)
	if first {
		s.failures = append(s.failures, err)
	}
	s.mu.Unlock()
	if first {
		s.r.Abort(err) // without the lock: it calls OnStop of other layers
	}
}

// Name implements executor.Job.
func (s *stream[A, B]) Name() string { return s.name }

// Begin implements executor.Job.
func (s *stream[A, B]) Begin(r *executor.JobRun) (*executor.Item, error) {
	s.r = r
	s.tasks = executor.TaskSet{Job: s.name, Tasks: make([]executor.TaskInfo, 1)}
	s.tasks.Tasks[0] = executor.TaskInfo{Set: &s.tasks}
	s.left.Start(2)
	return &s.opener, nil
}

// Enter implements executor.Hooks.
func (s *stream[A, B]) Enter(*executor.Worker) { s.left.In(streamWorker) }

// Leave implements executor.Hooks.
func (s *stream[A, B]) Leave(*executor.Worker) { s.out(streamWorker) }

// out counts n units out, and ends the run after the last. No lock guards failures then.
func (s *stream[A, B]) out(n int64) {
	if s.left.Out(n) {
		s.r.Finish(s.failures...)
	}
}

// Fail implements executor.Hooks.
func (s *stream[A, B]) Fail(_ *executor.Worker, it *executor.Item, err error) *executor.Item {
	for i := range s.slots {
		if c := &s.slots[i]; &c.Item == it {
			s.fail(err)
			return s.end(c)
		}
	}
	panic("parallel: an item failed that is none of the stream's")
}

// Flush implements executor.Hooks.
func (s *stream[A, B]) Flush(*executor.Worker) {}

// Release implements executor.Hooks.
func (s *stream[A, B]) Release() {}
