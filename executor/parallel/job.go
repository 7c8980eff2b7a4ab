package parallel

import (
	"context"
	"sync/atomic"

	"github.com/magpie-go/magpie/executor"
)

// run runs fn on o's executor, as a run of its own of that name.
func run[R any](ctx context.Context, o Options, name string, fn func(s *executor.Scope) R) (R, error) {
	var result, none R
	job := executor.NewJob("parallel."+name, func(s *executor.Scope) error { result = fn(s); return nil })
	if o.Workers > 0 {
		job = executor.With(job, executor.RunOptions{Workers: o.Workers})
	}
	if err := o.Executor.Run(ctx, job); err != nil {
		return none, err
	}
	return result, nil
}

// A job has the state that all parts of one call share.
type job struct {
	// failed is set when a function returns an error, or a part panics or ends by Goexit. The run is stopped by a panic
	// only when the part is joined. Without failed the other parts would go on until then.
	failed atomic.Bool
}

// stopped reports whether parts that have not begun must be left out. The call then fails.
func (j *job) stopped(s *executor.Scope) bool { return s.Stopped() || j.failed.Load() }

// halt lets no part begin any more. The caller fails.
func (j *job) halt() { j.failed.Store(true) }

// end is deferred by each part. *ok is true if the part has come to its end.
func (j *job) end(ok *bool) {
	if !*ok {
		j.halt()
	}
}

// fail ends the call because a function, in a part with scope s, has returned err. The first such error is the run's
// failure. The context of the other functions is then cancelled.
func (j *job) fail(s *executor.Scope, err error) {
	j.halt()
	s.Fail(err)
}

// sure returns f as a function that may fail, for code that both kinds of function share. Loops over elements call f
// itself: the call of another function costs as much as a short body.
func sure[A, R any](f func(A) R) func(context.Context, A) (R, error) {
	return func(_ context.Context, a A) (R, error) { return f(a), nil }
}

// sure2 is sure for functions of two arguments.
func sure2[A, B, R any](f func(A, B) R) func(context.Context, A, B) (R, error) {
	return func(_ context.Context, a A, b B) (R, error) { return f(a, b), nil }
}
