package executor

import "context"

// Call runs fn with a scope on the executor and returns its result. If the run fails, or ctx ends before fn does, it
// returns the zero value and an error. ex may be nil, see [Default].
func Call[A, R any](ctx context.Context, ex *Executor, fn func(*Scope, A) R, arg A) (result R, err error) {
	if fn == nil {
		panic("executor: Call of a nil function")
	}
	ex = chooseFor(ctx, ex, "Call")
	here := workerHere()
	k := ex.runForCall(here)
	defer k.leave()
	c := calledOf[A, R](&k.call)
	c.fn, c.arg = fn, arg
	if err = ex.runFrom(ctx, ex, k.of(ex, &k.call), here); err == nil {
		result = c.result
	}
	*c = called[A, R]{}
	return result, err
}

// runForCall returns a run for a call of a caller on worker here.
func (ex *Executor) runForCall(here *Worker) *keptRun {
	if here == nil {
		if k := ex.kept.take(ex); k != nil {
			return k
		}
	}
	return newKeptRun(nil)
}

// A callJob is the job of a [Call].
type callJob struct {
	called any                // a *called[A, R]
	fn     func(*Scope) error // its call
}

// A called is a function with its argument and its result.
type called[A, R any] struct {
	fn     func(*Scope, A) R
	arg    A
	result R
}

func (c *called[A, R]) call(s *Scope) error {
	c.result = c.fn(s, c.arg)
	return nil
}

// calledOf returns what j calls, if that is of the types.
func calledOf[A, R any](j *callJob) *called[A, R] {
	c, ok := j.called.(*called[A, R])
	if !ok {
		c = &called[A, R]{}
		j.called, j.fn = c, c.call
	}
	return c
}

// Name implements Job.
func (j *callJob) Name() string { return "call" }

// Light implements Job: scopes look at the caller's context.
func (j *callJob) Light() bool { return true }

// Begin implements Job.
func (j *callJob) Begin(run *JobRun) (*Item, error) {
	return partsOfRun(&run.Run).scope.begin(run, j.fn)
}
