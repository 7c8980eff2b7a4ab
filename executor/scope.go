package executor

import (
	"context"
	"reflect"
	"slices"

	"github.com/magpie-go/magpie/executor/internal/demand"
	"github.com/magpie-go/magpie/internal/left"
	"github.com/magpie-go/magpie/internal/osthread"
	"github.com/magpie-go/magpie/internal/xatomic"
	"github.com/magpie-go/magpie/internal/xsync"
)

// A Scope lets the function that is given it start other work on the same executor and wait for it. All that it starts
// ends before it does. It is for the function that it was given to, and for what that calls: not for a child or a forked call,
// which run elsewhere and have scopes of their own, nor for other goroutines, nor for later.
//
// Any other use panics: by a child or a forked call, which has captured the Scope of the function around it, by another
// goroutine, after the end. One mistake is forgiven: a forked call may use the Scope that it was forked with, as long
// as nobody has taken the call, since then Join makes it as a part of its own function. The race detector may report a
// misuse first.
type Scope struct {
	w        *Worker
	body     *Body
	run      *scopeRun
	fork     *fork   // that the function is the call of
	children *child  // those not joined, newest first
	level    uint64  // forks.level when the scope began; no fork of it is below
	base     uint64  // and forks.base
	forker   uintptr // tells the stack frame that made the newest fork; 0 if s is not to be used now, or check has not seen it
	next     *Scope  // in forks.scopes
	skipped  bool    // it has joined what was skipped, see fork
}

// check panics if s is not the scope of the function that runs on w, its worker, or if another goroutine calls than
// that one. here is a place on the caller's stack. It reports whether the stack has moved since s was used last, so
// that nobody knows which frame made the newest fork.
//
// Fork and Join, which are called every few nanoseconds, do not come here if the last of them was on the same block of
// the stack.
func (w *Worker) check(s *Scope, here uintptr) (moved bool) {
	if w.forks.scope != s {
		misused()
	}
	if moved = s.forker != 0 && !isNear(here, s.forker); moved || s.forker == 0 {
		w.forks.stack = stack{} // its blocks may be another's by now
	}
	if !w.forks.stack.has(here) {
		if osthread.Self() != w.thread.self.Load() {
			misused()
		}
		w.forks.stack.note(here)
	}
	if moved || s.forker == 0 {
		s.forker = here | 1 // beside here, and no frame's
	}
	return moved
}

func misused() {
	panic("executor: a Scope is used outside the function that it was given to: a function that forks, or starts children, " +
		"needs the Scope that Fork, Spawn, Func or Call gives it, not one that it has captured, and only while it runs")
}

// Context is the run's: cancelled when the caller's is, when a child fails, and at the end of the run.
func (s *Scope) Context() context.Context {
	if s.run == nil {
		misused()
	}
	return s.run.ctx
}

// Executor is the one that runs s.
func (s *Scope) Executor() *Executor { return s.w.Executor() }

// Stopped reports whether the run was cancelled or has failed. It costs two loads.
func (s *Scope) Stopped() bool {
	if s.body == nil {
		misused()
	}
	if s.w.inline != nil {
		s.w.noticeContexts()
	}
	return s.body.Stopped()
}

func init() {
	demand.Of = func(scope any) bool { return scope.(*Scope).w.lane.IsWanted() }
	demand.Hint = func(scope any) *xatomic.Bool { return scope.(*Scope).w.lane.DemandWord() }
}

// Func returns a job that runs fn with a scope. It may be run any number of times, also at once. The run's result is
// what fn returns and the failures of children, joined. Where a function with a scope returns failures of children of
// its own, wrapped or not, as [Scope.Wait] has returned them, they are told by what it returns. A child's failure is
// the run's, whatever fn makes of it; an error that only passes on why the run was stopped, its context's error or
// cause, is none. It panics if fn is nil.
func Func(name string, fn func(*Scope) error) Job {
	if fn == nil {
		panic("executor: Func of a nil function")
	}
	return &funcJob{name, fn}
}

type funcJob struct {
	name string
	fn   func(*Scope) error
}

func (j *funcJob) Name() string { return j.name }

func (j *funcJob) Begin(run *JobRun) (*Item, error) {
	if run.ex.cfg.Deque.FIFO() {
		return nil, ErrFIFO
	}
	r := &scopeRun{fn: j.fn, ctx: run.Context()}
	r.Body = NewBody(r)
	r.Body.forks = true
	r.root.Exec, r.root.Body, r.root.kind = execRoot, &r.Body, isRoot
	r.left.Start(1)
	return &r.root.Item, nil
}

// Call runs fn with a scope on the executor and returns what it returns, or the zero value and an error if the run has failed,
// or ctx has ended before fn has.
func Call[A, R any](ctx context.Context, ex *Executor, fn func(*Scope, A) R, arg A) (result R, err error) {
	if fn == nil {
		panic("executor: Call of a nil function")
	}
	var r R
	err = ex.Run(ctx, &funcJob{"call", func(s *Scope) error { r = fn(s, arg); return nil }})
	if err == nil {
		result = r
	}
	return result, err
}

// A scopeRun is one run of a Func. It implements Hooks.
type scopeRun struct {
	Body
	fn   func(*Scope) error
	ctx  context.Context
	root fork

	// sparing says that Goexit in a child fails the child and not the run: whoever made the job accounts for it.
	// Written by the root before it starts any.
	sparing bool

	// left counts the root while it is not done, and the workers between Enter and Leave.
	left left.Count

	mu       xsync.Mutex // guards what follows
	failures []failure   // in the order in which they came
	stopper  error       // the failure that stopped the run, if one did
}

// A failure is what functions of a run have failed with.
type failure struct {
	err error
	in  *fork // the call in progress that has failed with it or has joined what did; nil if nobody joins that
}

// pass gives the failures in a call that has ended to the one that has joined it, or to nobody.
func (r *scopeRun) pass(from, to *fork) {
	if r.Stopped() { // else nothing has failed
		r.passFailures(from, to)
	}
}

func (r *scopeRun) passFailures(from, to *fork) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range r.failures {
		if r.failures[i].in == from {
			r.failures[i].in = to
		}
	}
}

func execRoot(w *Worker, it *Item) *Item {
	f := forkOf(it)
	s := w.forks.begin(f)
	r := s.run
	fn := r.fn
	r.fn = nil // what a caller keeps of the run, as its context, is not to keep the function alive
	if !r.Stopped() {
		if err := fn(s); err != nil {
			r.fail(f, err, s.skipped)
		}
	}
	w.forks.end(f)
	r.left.Out(1) // not the end: w is counted
	return nil
}

// fail keeps what call f has failed with, and stops the run. Failures of what f has joined that err is or wraps, as a
// function returns what Wait has returned to it, are told by err from then on. A panic is only itself, whatever its
// value. f is nil of a call that nobody joins. skipped says that f may have failed because children of it were not
// begun.
func (r *scopeRun) fail(f *fork, err error, skipped bool) {
	if r.sparing && err == ErrGoexit {
		return
	}
	_, panicked := err.(*PanicError)
	r.mu.Lock()
	defer r.mu.Unlock()
	told := false
	kept := r.failures[:0]
	for _, old := range r.failures {
		if f != nil && old.in == f && (isSame(err, old.err) || !panicked && wraps(err, old.err)) {
			if told {
				continue
			}
			old.err, told = err, true
		}
		kept = append(kept, old)
	}
	clear(r.failures[len(kept):])
	r.failures = kept
	// One Goexit ends all functions that stand on each other.
	ends := err == ErrGoexit && slices.ContainsFunc(kept, func(old failure) bool { return old.err == err })
	if told || ends || r.repeats(err, skipped) {
		return
	}
	r.failures = append(r.failures, failure{err, f})
	if r.stopper == nil {
		r.stopper = err
	}
	r.Run().Abort(err)
}

// repeats reports whether err only says again why the run was stopped. Under mu.
//
// If a failure has stopped it, an error that wraps that one may be a failure of its own, and is told too, unless it
// says that the context has ended, or is of a call to which Wait has returned that one.
func (r *scopeRun) repeats(err error, skipped bool) bool {
	run := r.Run()
	run.noticeContext()
	ended, cause := run.ctx.ending()
	return saysAgain(err, ended, cause) &&
		(skipped || !isSame(r.stopper, cause) || isSame(err, cause) || wraps(err, ended))
}

// wraps reports whether part is in the tree of err.
func wraps(err, part error) bool {
	looks := maxLooks
	var in func(error) bool
	in = func(err error) bool {
		if looks--; looks < 0 || err == nil {
			return false
		}
		if isSame(err, part) || reflect.ValueOf(err).Comparable() && err == part {
			return true
		}
		switch e := err.(type) {
		case interface{ Unwrap() error }:
			return in(e.Unwrap())
		case interface{ Unwrap() []error }:
			return slices.ContainsFunc(e.Unwrap(), in)
		}
		return false
	}
	return askError(func() bool { return in(err) })
}

// Fail implements Hooks.
func (r *scopeRun) Fail(w *Worker, it *Item, err error) *Item {
	f := forkOf(it)
	if f.kind != isCall { // whoever joins a call may still recover
		r.fail(f, err, w.forks.scope.skipped)
	}
	f.err = err
	r.endFailed(w, f)
	return nil
}

// endFailed ends f, which did not return. What it waits for may call Goexit, which passes through here: it is then taken up
// where it was.
func (r *scopeRun) endFailed(w *Worker, f *fork) {
	abandoned := false
	defer func() {
		if !abandoned {
			r.endFailed(w, f)
		}
	}()
	w.forks.abandon(w.forks.scope)
	abandoned = true
	w.forks.end(f)
	if f.kind == isRoot {
		r.left.Out(1) // not the end: w is counted
	}
}

// Enter implements Hooks.
func (r *scopeRun) Enter(*Worker) { r.left.In(1) }

// Leave implements Hooks.
func (r *scopeRun) Leave(w *Worker) {
	for _, p := range w.forks.pools {
		p.forget() // here, and not in make: a private fork would pay for it
	}
	if !r.left.Out(1) {
		return
	}
	errs := make([]error, len(r.failures))
	for i, f := range r.failures {
		errs[i] = f.err
	}
	r.Run().Finish(errs...)
}

// Flush implements Hooks.
func (r *scopeRun) Flush(*Worker) {}

// Release implements Hooks.
func (r *scopeRun) Release() { r.ctx, r.failures, r.stopper = nil, nil, nil }
