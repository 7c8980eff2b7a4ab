package executor

import (
	"context"

	"github.com/magpie-go/magpie/internal/xatomic"
)

// Call runs fn with a scope on the executor and returns its result. If the run fails, or ctx ends before fn does, it
// returns the zero value and an error. ex may be nil, see [Default].
func Call[A, R any](ctx context.Context, ex *Executor, fn func(*Scope, A) R, arg A) (result R, err error) {
	if fn == nil {
		panic("executor: Call of a nil function")
	}
	ex = chooseFor(ctx, ex, "Call")
	here := workerHere()
	r := ex.newCall(here)
	defer r.leave()
	c := calledOf[A, R](r)
	c.fn, c.arg = fn, arg
	if err = ex.runFrom(ctx, here, r); err == nil {
		result = c.result
	}
	*c = called[A, R]{}
	return result, err
}

// A callRun is the job of a [Call] with all that a run of it needs, in one piece. One that a caller from outside has
// run by itself serves the next Call, if nothing refers to the run any more, see Run.lone.
type callRun struct {
	run   runParts
	scope scopeRun
	of    any                // a *called[A, R]
	fn    func(*Scope) error // its call
	home  *callStore         // where it is kept; nil if it serves once
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

// calledOf returns what r calls, if that is of the types.
func calledOf[A, R any](r *callRun) *called[A, R] {
	c, ok := r.of.(*called[A, R])
	if !ok {
		c = &called[A, R]{}
		r.of, r.fn = c, c.call
	}
	return c
}

// Name implements Job.
func (r *callRun) Name() string { return "call" }

// Begin implements Job.
func (r *callRun) Begin(run *JobRun) (*Item, error) { return r.scope.begin(run, r.fn) }

// A callStore keeps a callRun for the next caller from outside. Others that come meanwhile make one for themselves.
type callStore struct {
	taken xatomic.Uint32 // 1: a caller has the callRun; P1: hands it to the next caller
	run   *callRun       // nil: none is made yet; of the caller that has set taken
}

// take returns a callRun. leave follows.
func (s *callStore) take() *callRun {
	if !s.taken.CompareAndSwap(0, 1) {
		return newCallRun(nil)
	}
	if s.run == nil {
		s.run = newCallRun(s)
	}
	return s.run
}

func newCallRun(home *callStore) *callRun {
	r := &callRun{home: home}
	r.scope.init()
	if home != nil {
		r.run.renew()
	}
	return r
}

// leave ends a call, also after Goexit and after a panic of the caller's context.
func (r *callRun) leave() {
	s := r.home
	if s == nil {
		return
	}
	if !r.run.renew() {
		s.run = nil
	}
	if r.scope.memo.Load() != 0 { // so that no guest of a call is quiet, see protocol/guests.md
		r.scope.memo.Store(0)
	}
	s.taken.Store(0)
}

// newCall returns a callRun for a caller on worker here.
func (ex *executor) newCall(here *Worker) *callRun {
	if here != nil {
		return newCallRun(nil)
	}
	return ex.calls.take()
}
