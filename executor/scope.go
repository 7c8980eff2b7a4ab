package executor

import (
	"context"
	"slices"

	"github.com/magpie-go/magpie/executor/experiment"
	"github.com/magpie-go/magpie/internal/osthread"
	"github.com/magpie-go/magpie/internal/xatomic"
	"github.com/magpie-go/magpie/internal/xsync"
)

// A Scope lets a function start other work on the same executor and wait for it. Everything that the function starts
// ends before the function does. Only the function that is given the Scope, and functions that it calls, may use it, on
// its own goroutine and until it returns. Any other use panics, but for one mistake that may not be noticed: a forked
// call that uses the Scope of the function around it. The race detector may report a misuse first. A function that
// waits for what its children or forked calls do, other than by Join or Wait, does so in [Blocking]: otherwise it may
// wait for ever.
//
// A Scope does not limit the children that run at a time: see RECIPES.md.
type Scope struct {
	top      top              // first, with slack and lo: what Fork and Join use
	slack    *xatomic.Uintptr // of the worker's lane; constant
	lo       uintptr          // forks.stack.lo; noStack while s is not in use, not yet checked, or below a wait
	w        *Worker
	body     *Body
	run      *scopeRun
	fork     *fork   // whose call the function is
	number   uint64  // of the scopes that have begun on the worker, from 1 on
	children *child  // not joined, newest first
	level    uint64  // that of the newest fork when the scope began; the scope's forks are above it
	base     uint64  // forks.base before the scope
	under    uintptr // forks.under before the scope
	next     *Scope  // in forks.scopes
	skipped  bool    // the function has joined a child that was not begun, see fork
}

// isHome reports whether s is in use and here, an address on the caller's stack, is on the stack of its worker. If it
// returns false, that is not known, and check tells.
func (s *Scope) isHome(here uintptr) bool { return forksOf(s.w).stack.has(s.lo, here) }

// check panics if s is not the scope of the function that runs on its worker w, or if the caller is on another
// goroutine. here is an address on the caller's stack. check reports whether the stack may have moved since s was used
// last: then it is not known which frame made the newest fork.
//
// Fork and Join do not call it where isHome is true: they are called every few nanoseconds.
func (f *forks) check(s *Scope, here uintptr) (moved bool) {
	w := f.w
	if f.scope != s {
		misused()
	}
	st := &f.stack
	if s.lo == noStack {
		*st = stack{} // it may have moved since another scope was used
	}
	if !st.has(st.lo, here) {
		if !w.thread.is(osthread.Self()) {
			misused()
		}
		moved = st.note(here)
		w.lane.SetSlack(st.slack())
	}
	s.lo = st.lo
	return moved
}

func misused() {
	panic("executor: a Scope is used outside the function that it was given to: " +
		"a function that forks, or starts children, needs the Scope that Fork, Spawn, NewJob or Call gives it, " +
		"not one that it has captured, and only while it runs")
}

// Context returns the run's context: it is cancelled when the caller's is, when a child fails, and when the run ends.
func (s *Scope) Context() context.Context {
	if s == nil || s.run == nil {
		misused()
	}
	return s.run.context()
}

// Executor returns the executor that runs the function.
func (s *Scope) Executor() *Executor {
	if s == nil || s.run == nil {
		misused()
	}
	return s.run.Run().of.(*Executor)
}

// WorkerIndex is [Executor.WorkerIndex] for the function. It costs three loads.
func (s *Scope) WorkerIndex() int {
	if s == nil || s.body == nil {
		misused()
	}
	return s.w.id
}

// mustBeGiven panics if s is nil or zero.
func (s *Scope) mustBeGiven() {
	if s == nil || s.w == nil {
		misused()
	}
}

// Stopped reports whether the run was cancelled or failed. It costs two loads.
func (s *Scope) Stopped() bool {
	if s == nil || s.body == nil {
		misused()
	}
	if s.w.inline != nil {
		s.w.core.noticeContexts()
	}
	return s.body.Stopped()
}

// Demand reports whether other workers need work: they find nothing to take from the caller's worker, or have asked it.
// A call that is forked then is available to them at once. So a function that can split its work needs to fork only
// while there is demand. With [host.Options].Share the worker may rest in it. Without demand it costs two loads.
func (s *Scope) Demand() bool {
	return (s == nil || s.slack == nil || s.slack.Load() == 0) && s.lookForDemand()
}

// lookForDemand goes on with Demand if there may be demand. The worker rests first if it is to.
func (s *Scope) lookForDemand() bool {
	s.mustBeGiven()
	w := s.w
	if partsOf(w).share.isWanted() {
		partsOf(w).share.Rest()
	}
	return w.lane.IsWanted()
}

// Fail makes err the failure of the run and stops the run, as if a child had returned err. It does nothing if the run
// has a failure already, or if err only says why the run was stopped. It is for functions that return no error, such as
// forked calls. It panics if err is nil.
func (s *Scope) Fail(err error) {
	s.mustBeGiven()
	if err == nil {
		panic("executor: Scope.Fail of a nil error")
	}
	s.run.tellAbort(s.run.recordFirst(err))
}

// NewJob returns a job that runs fn with a scope. It may be run any number of times, also at the same time. The run's
// error joins the error of fn and the failures of children, also if fn returns nil. A failure of a child that a
// function returns, wrapped or not, is reported once, as the function returned it. An error that only says why the run
// was stopped is not a failure.
func NewJob(name string, fn func(*Scope) error) Job {
	if fn == nil {
		panic("executor: NewJob of a nil function")
	}
	return &funcJob{name, fn}
}

type funcJob struct {
	name string
	fn   func(*Scope) error
}

func (j *funcJob) Name() string { return j.name }

func (j *funcJob) Begin(run *JobRun) (*Item, error) {
	r := &scopeRun{}
	r.init()
	return r.begin(run, j.fn)
}

// init makes r, which is zero, the run of a job.
func (r *scopeRun) init() {
	r.Body.Init(r)
	r.root.Exec, r.root.Body, r.root.kind = execRoot, &r.Body, isRoot
}

// begin begins run, which calls fn.
func (r *scopeRun) begin(run *JobRun, fn func(*Scope) error) (*Item, error) {
	if executorOf(run.core).cfg.chosen.Deque.FIFO() {
		return nil, experiment.ErrFIFO
	}
	r.fn = fn
	r.left.Start(1)
	if run.Observed() {
		r.observe(run)
	}
	return &r.root.Item, nil
}

// The tasks of a job of NewJob, as observers see them.
const (
	rootTask = iota
	childTask
	forkTask
)

// observe makes the run tell the observers of its root, and gives its children and forks their tasks.
func (r *scopeRun) observe(run *JobRun) {
	r.tasks = executorOf(run.core).observers.setOf(run.Name(), "root", "child", "fork").Tasks
	root, fn := &r.tasks[rootTask], r.fn
	r.fn = func(s *Scope) error {
		return run.CallTask(s.w, root, func(ctx context.Context) error {
			r.ctx = ctx // of children, too
			return fn(s)
		})
	}
}

// A scopeRun is one run of a job of NewJob. It implements Hooks.
type scopeRun struct {
	Body
	fn   func(*Scope) error
	ctx  context.Context // of an observer, for the root and what it starts; nil if there is none
	root fork

	// sparing says that Goexit in a child does not fail the run: the maker of the job accounts for it. The root writes
	// it before it starts a child.
	sparing bool

	skipped bool // the root was not begun; written by it

	counted // the root until it is done, too

	tasks []TaskInfo // of the set of the job, with observers

	mu       xsync.Mutex // guards what follows
	failures []failure   // in the order in which they came
	stopper  error       // the failure that stopped the run, if one did
}

// context returns the context for the functions of the run. It is not inlined: the hooks of a model in it would change
// what is inlined into a child.
//
//go:noinline
func (r *scopeRun) context() context.Context {
	if r.ctx != nil {
		return r.ctx
	}
	return r.Run().Context()
}

// A failure is an error of a function of the run.
type failure struct {
	err error
	in  *fork // the call that has failed with err, or the call in progress that has joined that one; nil if none will
}

// pass moves the failures of call from, which has ended, to the call that has joined it; to is nil if none will.
func (r *scopeRun) pass(from, to *fork) {
	if r.Stopped() { // else there is no failure
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
	s := forksOf(w).beginTaken(f)
	r := s.run
	fn := r.fn
	r.fn = nil // so that a caller that keeps, say, the run's context does not keep the function alive
	if !r.Stopped() {
		if err := fn(s); err != nil {
			r.fail(f, err, s.skipped)
		}
	} else {
		r.skipped = true
		var task *TaskInfo
		if r.tasks != nil {
			task = &r.tasks[rootTask]
		}
		r.Run().SkipTask(w, task, nil)
	}
	forksOf(w).endTaken(f)
	r.left.Out(1) // not the end: w is counted
	return nil
}

// fail records err, the failure of call f, and stops the run. f is nil if it will not be joined. skipped says that f
// may have failed because children of it were not begun.
//
// If err is or wraps recorded failures of calls that f has joined, because f returns what Wait returned to it, err
// replaces these. A panic replaces only a failure that is the same error.
func (r *scopeRun) fail(f *fork, err error, skipped bool) {
	if r.sparing && err == ErrGoexit {
		return
	}
	r.tellAbort(r.record(f, err, skipped))
}

// tellAbort is the part of an abort of the run for which the caller holds no lock.
//
//go:noinline
func (r *scopeRun) tellAbort(body *Body, aborts bool) {
	if aborts {
		r.Run().tellAllStopped(body)
	}
}

// record is the part of fail that needs the lock. It reports whether the run was aborted, and returns its body if it
// was not stopped before.
func (r *scopeRun) record(f *fork, err error, skipped bool) (body *Body, aborts bool) {
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
	// One Goexit ends all functions on one stack.
	ends := err == ErrGoexit && slices.ContainsFunc(kept, func(old failure) bool { return old.err == err })
	if told || ends || r.repeats(err, skipped) {
		return nil, false
	}
	r.failures = append(r.failures, failure{err, f})
	if r.stopper == nil {
		r.stopper = err
	}
	return r.Run().stopped(context.Canceled, err, nil), true
}

// recordFirst is record for an error that counts only if it is the run's first.
func (r *scopeRun) recordFirst(err error) (body *Body, aborts bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stopper != nil || r.repeats(err, false) {
		return nil, false
	}
	r.failures = append(r.failures, failure{err: err})
	r.stopper = err
	return r.Run().stopped(context.Canceled, err, nil), true
}

// repeats reports whether err only says again why the run was stopped. The caller holds mu.
//
// If a failure has stopped the run, an error that wraps it may be a failure of its own, and is recorded too, unless the
// error says that the context has ended, or skipped is set.
func (r *scopeRun) repeats(err error, skipped bool) bool {
	run := r.Run()
	run.noticeContext()
	ended, cause := run.ctx.ending()
	return saysAgain(err, ended, cause) &&
		(skipped || !isSame(r.stopper, cause) || isSame(err, cause) || wraps(err, ended))
}

// Fail implements Hooks.
func (r *scopeRun) Fail(w *Worker, it *Item, err error) *Item {
	f := forkOf(it)
	err = inJob(err, r.Run().Name())
	if f.kind != isCall { // the function that joins a call may still recover from its failure
		r.fail(f, err, forksOf(w).scope.skipped)
	}
	f.err = err
	r.endFailed(w, f)
	return nil
}

// endFailed ends f, which did not return. If a Goexit in a call that abandon waits for unwinds endFailed, a deferred
// call goes on where it was.
func (r *scopeRun) endFailed(w *Worker, f *fork) {
	abandoned := false
	defer func() {
		if !abandoned {
			r.endFailed(w, f)
		}
	}()
	forksOf(w).abandon(forksOf(w).scope)
	abandoned = true
	forksOf(w).endTaken(f)
	if f.kind == isRoot {
		r.left.Out(1) // not the end: w is counted
	}
}

// isOlder implements singler.
func (r *scopeRun) isOlder(it *Item, w *Worker, mark uint64) bool { return forkOf(it).isOlder(w, mark) }

// Leave implements Hooks.
func (r *scopeRun) Leave(w *Worker) {
	forksOf(w).forget() // here, not in make, so that private forks do not pay for it
	if !r.left.Out(1) || len(r.failures) == 0 && guestOf(w).isStarterOf(r.Run()) && r.Run().endLone(w) {
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

// Progress implements Hooks.
func (r *scopeRun) Progress() Progress {
	p := Progress{Total: 1}
	switch n := r.left.Load(); {
	case n > 0:
		p.Left, p.Running = 1, int(n-1) // the root is counted besides
	case len(r.failures) > 0: // here and below: the end, nothing writes what is read
		p.Failed = 1
	case r.skipped:
		p.Skipped = 1
	default:
		p.Done = 1
	}
	return p
}
