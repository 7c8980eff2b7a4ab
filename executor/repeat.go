package executor

import (
	"context"
	"fmt"

	"github.com/magpie-go/magpie/internal/xatomic"
)

// Times returns a job that runs j n times, one run after the other. A run that fails is the last, and its error is the
// error of the whole. If the job is cancelled, so is the run of j in progress, and no other begins. The runs of j are
// nested in the run of the job, which has the name of j and, as a whole, the options that j has from [With].
// [Run.Progress] counts the runs of j as tasks. The job may be run any number of times, also at the same time if j
// allows that. Times panics if n is negative.
func Times(j Job, n int) Job {
	if n < 0 {
		panic(fmt.Sprintf("executor: Times of %d runs", n))
	}
	return newRepeated(j, "Times", repeated{times: n})
}

// Until is [Times] without a number: it runs j until done returns true. done is called before each run of j, also
// before the first, on a worker, and never twice at a time within a run of the job.
func Until(j Job, done func() bool) Job {
	if done == nil {
		panic("executor: Until of a nil function")
	}
	return newRepeated(j, "Until", repeated{done: done})
}

func newRepeated(j Job, method string, r repeated) Job {
	if j == nil {
		panic("executor: " + method + " of a nil job")
	}
	r.Job, r.name = j, j.Name()
	if o, ok := j.(*optioned); ok {
		r.Job = o.Job
		return &optioned{&r, o.options}
	}
	return &r
}

// A repeated is a job that runs another several times.
type repeated struct {
	Job
	name  string      // of the Job, which Times and Until ask for it: that of a nil pointer panics
	done  func() bool // nil: times counts
	times int
}

// Name implements Job.
func (j *repeated) Name() string { return j.name }

// Begin implements Job.
func (j *repeated) Begin(run *JobRun) (*Item, error) {
	r := &repetition{repeated: j, ctx: run.Context()}
	r.Body.Init(r)
	r.item = Item{Exec: r.exec, Body: &r.Body}
	r.left.Start(1)
	return &r.item, nil
}

// A repetition is one run of a repeated. It implements Hooks.
type repetition struct {
	Body
	*repeated
	ctx  context.Context
	item Item  // the only one: it returns itself until the last run has ended
	err  error // of a run of the job, or a panic of done

	runs, failed, skipped xatomic.Int64 // runs of the job that have ended well, have failed, or were skipped

	counted // the item until the last run has ended, too
}

// exec runs the job once, unless it was run often enough.
func (r *repetition) exec(_ *Worker, self *Item) *Item {
	run := r.Body.Run()
	if r.Stopped() || r.isDone() {
		return r.out(nil)
	}
	if err := run.of.(*Executor).Run(r.ctx, r.Job); err != nil {
		return r.out(err)
	}
	r.runs.Add(1)
	return self
}

func (r *repetition) isDone() bool {
	if r.done == nil {
		return r.runs.Load() == int64(r.times)
	}
	return r.done()
}

// out counts the item out. err is the failure of a run, or nil.
func (r *repetition) out(err error) *Item {
	if run := r.Body.Run(); err != nil && !run.Repeats(err) {
		r.err = err
		r.failed.Store(1)
	} else if err != nil {
		r.skipped.Store(1) // it was cut short
	}
	if r.done == nil {
		r.skipped.Store(int64(r.times) - r.runs.Load() - r.failed.Load())
	}
	r.left.Out(1) // not the end: the worker is counted
	return nil
}

// Fail implements Hooks.
func (r *repetition) Fail(_ *Worker, _ *Item, err error) *Item {
	return r.out(inJob(err, r.Body.Run().Name()))
}

// Leave implements Hooks.
func (r *repetition) Leave(*Worker) {
	if r.left.Out(1) {
		r.Body.Run().Finish(r.err)
	}
}

// Flush implements Hooks.
func (r *repetition) Flush(*Worker) {}

// Release implements Hooks.
func (r *repetition) Release() {}

// Progress implements Hooks.
func (r *repetition) Progress() Progress {
	units := r.left.Load()
	p := Progress{
		Total: int64(r.times), Done: r.runs.Load(), Failed: r.failed.Load(), Skipped: r.skipped.Load(),
		Running: int(max(units-1, 0)), // without the item
	}
	if r.done != nil {
		p.Left = min(units, 1)
	} else {
		p.Left = p.Total - p.Done - p.Failed - p.Skipped
	}
	return p
}
