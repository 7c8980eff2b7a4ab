package executor

import (
	"context"

	"github.com/magpie-go/magpie/executor/experiment"
)

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

// Light implements Job: scopes look at the caller's context.
func (j *funcJob) Light() bool { return true }

func (j *funcJob) Begin(run *JobRun) (*Item, error) {
	r := partsOfRun(&run.Run).scope
	if r == nil {
		r = &scopeRun{}
		r.init()
	}
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

func execRoot(w *Worker, it *Item) *Item {
	f := forkOf(it)
	s := forksOf(w).beginTaken(f)
	r := s.run
	fn := r.fn
	r.fn = nil // so that a caller that keeps, say, the run's context does not keep the function alive
	if !r.Look() {
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
