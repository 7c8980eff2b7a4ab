package graph

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/internal/errfmt"
)

// A RetryPolicy says how often, and after which pauses, a task of [Graph.Retry] calls its function.
type RetryPolicy struct {
	// Tries is the largest number of calls, the first included. It is at least 1.
	Tries int
	// Pause is the time between the first call and the second. Each further pause is twice the one before. 0 means that
	// there are no pauses.
	Pause time.Duration
	// MaxPause is the longest pause. 0 means no limit.
	MaxPause time.Duration
	// Jitter shortens each pause by a random part of it, of at most this fraction from 0 to 1, so that tasks that have
	// failed together do not come back together.
	Jitter float64
	// When reports whether the function should be called again after it has returned err. nil means after any error.
	When func(err error) bool
}

// Retry adds a task that calls fn again if it fails, as often as the policy says. The task ends with the first call
// that returns nil. If no call does, the task fails with the error of the last one.
//
//	policy := graph.RetryPolicy{Tries: 5, Pause: 100 * time.Millisecond, When: isTemporary}
//	g.Retry(policy, upload).Succeed(render)
//
// Between two calls the task holds no worker, no thread and no goroutine, but a timer, so any number of tasks may
// pause. It holds the permits of its [Task.Hold]. If the run is stopped meanwhile, there is no further call.
//
// After an error that says that the context has ended there is no further call. Nor is there after a panic or a
// runtime.Goexit: these are failures of the task at once.
//
// The first call is like that of a [Graph.Task]. If it fails, the others are made by the tasks of a small graph with
// the name of the task, as those of a [Graph.Subflow] are, and observers are told of these. Retry panics if fn is nil,
// Tries is below 1, a pause is negative, or Jitter is not from 0 to 1.
func (g *Graph) Retry(policy RetryPolicy, fn func(context.Context) error) Task {
	if fn == nil {
		g.nilFunction()
	}
	g.mustBe()
	if wrong := policy.wrong(); wrong != "" {
		panic(fmt.Sprintf("graph %q: Retry of task %d: %s", g.name, len(g.funcs), wrong))
	}
	return g.addSpecial(retried{policy, fn})
}

// wrong says what is wrong with the policy; "" if nothing is.
func (p RetryPolicy) wrong() string {
	switch {
	case p.Tries < 1:
		return fmt.Sprintf("Tries is %d: the first call counts, so give at least 1", p.Tries)
	case p.Pause < 0 || p.MaxPause < 0:
		return fmt.Sprintf("Pause is %v and MaxPause %v: neither may be negative", p.Pause, p.MaxPause)
	case !(0 <= p.Jitter && p.Jitter <= 1): // also not a number
		return fmt.Sprintf("Jitter is %v: give a fraction from 0 to 1", p.Jitter)
	}
	return ""
}

// again reports whether there is another call after n calls of which the last has returned err.
func (p RetryPolicy) again(ctx context.Context, n int, err error) bool {
	return n < p.Tries && ctx.Err() == nil && (p.When == nil || p.When(err))
}

// pause returns the time to wait after n calls.
func (p RetryPolicy) pause(n int) time.Duration {
	longest := p.MaxPause
	if longest == 0 {
		longest = 1<<63 - 1
	}
	d := min(p.Pause, longest)
	for ; n > 1 && 0 < d && d < longest; n-- {
		if d > longest/2 {
			d = longest
		} else {
			d *= 2
		}
	}
	return d - time.Duration(p.Jitter*rand.Float64()*float64(d))
}

// A retried is the work of a task of Retry.
type retried struct {
	RetryPolicy
	fn func(context.Context) error
}

func (s retried) run(ctx context.Context, w *executor.Worker, r *runState, i uint32) error {
	err := s.fn(ctx)
	if err == nil || !s.again(ctx, 1, err) {
		return err
	}
	owner, own := r.graph.origin(i)
	return r.startPart(w, i, &partJob{Graph: s.others(owner.ownName(own))}, false)
}

// others returns the graph that makes the calls after the first, which has failed: a loop of a pause and a call.
func (s retried) others(name string) *Graph {
	g := New(name)
	calls := 1
	var unwatch func() bool
	begin := g.Task(noTask).Named("begin")
	pause := g.External(func(ctx context.Context, done func(error)) error {
		// It has returned before call begins, also if the timer fires at once.
		timer := time.AfterFunc(s.pause(calls), func() { done(nil) })
		unwatch = context.AfterFunc(ctx, func() { timer.Stop() })
		return nil
	}).Named("pause")
	call := g.Condition(func(ctx context.Context) (next int, err error) {
		unwatch()
		err = s.fn(ctx)
		calls++
		switch {
		case err == nil:
			return 1, nil
		case s.again(ctx, calls, err):
			return 0, nil
		case ctx.Err() != nil:
			return 0, err // which is left out if it only says so
		}
		return 0, &retriedError{calls, err}
	}).Named("call")
	begin.Precede(pause)
	pause.Precede(call)
	call.Precede(pause)
	return g
}

// bare returns the error of a part of task i without the failure of the inner task around it, if the task is of Retry.
func (r *runState) bare(i uint32, err error) error {
	if _, ok := r.special[i].(retried); ok {
		if inner, ok := err.(*TaskError); ok {
			return inner.Err
		}
	}
	return err
}

// A retriedError is the error of the last of several calls.
type retriedError struct {
	calls int
	err   error
}

func (e *retriedError) Error() string                 { return e.say("%v") }
func (e *retriedError) Format(s fmt.State, verb rune) { errfmt.Format(s, verb, e.say) }
func (e *retriedError) Unwrap() error                 { return e.err }

func (e *retriedError) say(verb string) string {
	return fmt.Sprintf("after %d calls: "+verb, e.calls, e.err)
}
