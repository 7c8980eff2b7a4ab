package executor

import (
	"cmp"
	"context"
	"fmt"
	"slices"
)

// launch starts j for the Executor of, nested in parent unless that is nil. w is the calling worker, or nil. launch
// waits at the gate unless tries is set.
func (ex *core) launch(ctx context.Context, of any, j Job, w *Worker, parent *Run, tries bool) *Run {
	r, first := ex.prepare(ctx, of, j, w, parent, tries)
	if first != nil {
		r.show(first, w)
	}
	return &r.Run
}

// runFrom starts j for the Executor of, and waits for its end. here is what workerHere has returned to the caller.
func (ex *core) runFrom(ctx context.Context, of any, j Job, here *Worker) error {
	w := ex.workerFrom(here)
	r, first := ex.prepare(ctx, of, j, w, w.run(), false)
	if first != nil && (here != nil || !ex.attached.offer(r, first)) {
		r.show(first, w)
	}
	if r.over.Load() {
		return r.err.Get()
	}
	return r.wait(w, r.ctx.labels) // as pprof.Do does, take it that the calling task has the labels of its ctx
}

// prepare is launch, but does not make the first items available. It returns the first, or nil if the run is over.
func (ex *core) prepare(
	ctx context.Context, of any, j Job, w *Worker, parent *Run, tries bool,
) (r *JobRun, first *Item) {
	if ctx == nil || j == nil {
		panic("executor: Run and Start need a context and a job, got nil")
	}
	r, j, bounded := ex.attached.newRun(j, parent)
	r.bounded = bounded
	if r.core == nil { // else a thread that has a context of an earlier run may read it
		r.core = ex
	}
	r.of, r.job, r.priority = of, j, priorityOf(j, parent)
	if r.own.owner = r; r.ctx == nil {
		r.ctx = &r.own
	}
	r.ctx.within(ctx)
	r.setUp(&r.Run)
	if w != nil {
		w.core.noticeContexts()
	}
	if r.ctx.notice(); r.cancelled {
		r.stillborn(r.err.Get())
		return r, nil
	}
	if w != nil && w.waits.helps > maxDepth {
		r.stillborn(ErrTooDeep)
		return r, nil
	}
	// Calls of ctx's methods, which may panic, come before admit, which counts the run: Close waits for counted runs.
	if r.up != nil {
		r.follow()
	} else {
		r.caller.begin(&r.Run)
	}
	if parent != nil {
		r.parent.Store(parent)
	}
	gate := ex.attached.gate
	if gate != nil && parent == nil && w == nil { // a function of OnEnd, on a worker, must not wait for room
		var err error
		if r.gated, err = gate.enter(ctx, nameOf(j), tries); err != nil {
			r.stillborn(err)
			return r, nil
		}
	}
	if !ex.admit(&r.Run) {
		if r.gated {
			gate.leave()
		}
		r.stillborn(ex.refusal(&r.Run))
		return r, nil
	}
	if first = r.begin(); first != nil {
		r.embody(first.Body)
		ex.attached.began.make(&r.Run)
	}
	return r, first
}

// show makes the run's first items available. w is the calling worker, or nil.
func (r *JobRun) show(first *Item, w *Worker) {
	others := r.others
	r.others = nil // the run may end, and be kept
	r.entrust(w)
	if w != nil {
		w.Push(first)
		if others != nil {
			for it := range others {
				w.Push(it)
			}
		}
	} else {
		r.core.injectAll(first, others)
		r.core.drive(nil)
	}
}

// entrust is called before the run can have an item. From then on another thread than the caller's may end the run.
// What w, the calling worker, has in its lane by now is not of the run. w may be nil.
func (r *JobRun) entrust(w *Worker) {
	r.keep()
	if w != nil {
		r.mark = w.lane.Mark()
		r.launcher.Set(w)
	}
}

// embody makes body the run's. The run may have been cancelled since its start.
func (r *JobRun) embody(body *Body) {
	r.mu.Lock()
	defer r.mu.Unlock()
	body.run.Set(r)
	if r.cancelled {
		body.flags.Or(stopped)
	}
	if r.isUntold() {
		body.flags.Or(untold)
	}
	r.body = body
}

// begin calls the job's Begin and returns the first item, or nil if the run is over. The run is over too if Begin
// panics or returns an item that cannot be run, so that Wait and Close do not wait for it.
func (r *JobRun) begin() (first *Item) {
	err := errNotBegun
	defer func() {
		if first == nil {
			r.others = nil
			defer r.core.running.Done()
			r.core.forget(&r.Run)
			r.stillborn(err)
		}
	}()
	it, failure := r.job.Begin(r)
	if it != nil && failure == nil && (it.Exec == nil || it.Body == nil || it.Body.hooks == nil) {
		panic("executor: the job's Begin returned an item without an Exec, or without a Body with Hooks")
	}
	if err = failure; err == nil {
		first = it
	}
	return first
}

// stillborn ends a run that did not begin.
func (r *Run) stillborn(err error) {
	r.keep()
	r.endFollowing()
	defer r.stopFollowers()
	defer r.unfollow()
	r.mu.Lock()
	r.err.Set(err)
	r.cancelled, r.ended, r.refused = true, true, err != nil
	r.parent.Store(nil)
	r.ctx.cancel(context.Canceled, context.Canceled) // unless it has ended already
	r.mu.Unlock()
	r.tellEnds(r.publishEnd()) // the job's Begin may have made some
}

// admit adds r to the runs in progress. If the executor is closed it returns false, unless r is nested and Shutdown has
// not cancelled the work: while Close waits for a run, the run's tasks may start others, and running is not 0.
func (ex *core) admit(r *Run) bool {
	ex.mu.Lock()
	defer ex.mu.Unlock()
	parent := r.parent.Load()
	if ex.closed.Load() && (parent == nil || ex.aborted.Load() != nil) {
		return false
	}
	if parent != nil {
		parent.keep() // it may end first
	}
	r.next = ex.runs.Load()
	if r.next != nil {
		r.next.prev = r
	} else {
		ex.attached.busy.make()
	}
	ex.injector.beginRun(r.priority)
	ex.runs.Store(r) // D3(run): before the run's first item
	ex.inProgress++
	ex.running.Add(1)
	return true
}

// refusal returns the error of a run that admit has refused.
func (ex *core) refusal(r *Run) error {
	cause := ex.aborted.Load()
	if r.parent.Load() == nil || cause == nil {
		return ErrClosed
	}
	return newCancelError(nameOf(r.job), context.Canceled, *cause)
}

// forget removes r from the runs in progress. The caller then calls running.Done, after all that the end of r may
// start.
func (ex *core) forget(r *Run) {
	ex.mu.Lock()
	defer ex.mu.Unlock()
	ex.forgetLocked(r)
}

// forgetLone is forget for a run that is lone, if it still is: those that list the runs in progress refer to them. It
// reports whether r is. Then no other thread refers to r any more.
func (ex *core) forgetLone(r *Run) bool {
	ex.mu.Lock()
	defer ex.mu.Unlock()
	if !r.lone.Load() {
		return false
	}
	ex.forgetLocked(r)
	return true
}

// forgetLocked is forget for a caller that holds mu.
func (ex *core) forgetLocked(r *Run) {
	if r.prev != nil {
		r.prev.next = r.next
	} else {
		ex.runs.Store(r.next)
	}
	if r.next != nil {
		r.next.prev = r.prev
	}
	r.prev, r.next = nil, nil
	ex.inProgress--
	ex.injector.endRun(r.priority)
	if ex.runs.Load() == nil {
		ex.attached.idle.make()
	}
	if r.gated {
		ex.attached.gate.leave()
	}
}

// RunOptions say how a run behaves beside other runs of its executor, see [With]. The zero value changes nothing.
type RunOptions struct {
	_ [0]func() // no comparisons, so that a field of any type may be added

	// Name takes the place of the job's name in [Run.Name], dumps and the errors of a run that was cancelled. "" keeps the
	// job's. Tasks of [NewJob] and [Call] have it as the name of their [TaskSet]'s job.
	Name string
	// Priority decides which run the workers turn to first. The zero value is [Normal]. It is not a priority of threads: a
	// Low run keeps the processors busy if no other work is there. Of the runs that have not begun, a worker begins one
	// with the highest priority. A busy worker looks, after every 64 items, for items of runs of a higher priority,
	// submitted or in another worker's deque, and for submitted ones of its own priority, and runs these first. No run
	// waits for ever: one of 16 such looks prefers runs of lower priority, and a worker without items takes any. A nested
	// run has the priority of the run around it, whatever its own options say. Futures of [Async] are Normal.
	Priority Priority
	// Workers is the largest number of workers that run tasks of the run, and of the runs nested in it, at a time; 0 means
	// no limit. A nested run may have a limit of its own besides. Futures that a task starts with [Async] are not counted.
	// A worker that waits inside a task counts, so tasks that wait for each other in [Blocking] need as many Workers as
	// wait at a time. Waits for work of this module need no more than 1.
	Workers int
}

// With returns a job that does what j does, in a run with the given options. If j has options from With already, o
// counts for each that is set in both. The options hold for runs that are started with the job that With returns, not
// for a Job that calls its Begin. With panics if an option is invalid.
func With(j Job, o RunOptions) Job {
	switch {
	case j == nil:
		panic("executor: With of a nil job")
	case !o.Priority.isKnown():
		panic(fmt.Sprintf("executor: With of %v: there are Low, Normal and High", o.Priority))
	case o.Workers < 0:
		panic(fmt.Sprintf("executor: With of Workers %d: give a number of workers, or 0 for no limit", o.Workers))
	}
	if inner, ok := j.(*optioned); ok {
		j = inner.Job
		if o.Name == "" {
			o.Name = inner.options.Name
		}
		if o.Priority == Normal {
			o.Priority = inner.options.Priority
		}
		if o.Workers == 0 {
			o.Workers = inner.options.Workers
		}
	}
	return &optioned{j, o}
}

// An optioned is a job with options.
type optioned struct {
	Job
	options RunOptions
}

// Light implements Job.
func (j *optioned) Light() bool { return isLight(j.Job) }

// Name implements Job.
func (j *optioned) Name() string {
	if j.options.Name != "" {
		return j.options.Name
	}
	return j.Job.Name()
}

// A Priority is one of [High], [Normal] and [Low].
type Priority int8

const (
	Low    Priority = iota - 1 // after all others
	Normal                     // the default
	High                       // before all others
)

// String returns "low", "normal" or "high", or Priority(9) for another value.
func (p Priority) String() string {
	switch p {
	case Low:
		return "low"
	case Normal:
		return "normal"
	case High:
		return "high"
	}
	return fmt.Sprintf("Priority(%d)", int8(p))
}

// MarshalText returns the name of p. It implements [encoding.TextMarshaler].
func (p Priority) MarshalText() ([]byte, error) {
	if !p.isKnown() {
		return nil, fmt.Errorf("executor: Priority is %d: use one of %v", int8(p), priorityNames)
	}
	return []byte(p.String()), nil
}

// UnmarshalText sets p to the value of that name. "" is Normal.
func (p *Priority) UnmarshalText(name []byte) error {
	i := slices.Index(priorityNames, cmp.Or(string(name), Normal.String()))
	if i < 0 {
		return fmt.Errorf("executor: Priority is %q: use one of %v", name, priorityNames)
	}
	*p = Low + Priority(i)
	return nil
}

// priorityNames has the names from that of Low on.
var priorityNames = []string{Low.String(), Normal.String(), High.String()}

func (p Priority) isKnown() bool { return Low <= p && p <= High }

// optionsOf returns the options of j.
func optionsOf(j Job) (o RunOptions) {
	if j, ok := j.(*optioned); ok {
		o = j.options
	}
	return o
}

// priorityOf returns the priority of a run of j nested in parent, or in none if parent is nil.
func priorityOf(j Job, parent *Run) Priority {
	if parent != nil {
		return parent.priority
	}
	return optionsOf(j).Priority
}

// level returns the priority of the run whose items b has; Normal if b is nil.
func (b *Body) level() Priority {
	if b == nil {
		return Normal
	}
	if r := b.owner(); r != nil {
		return r.priority
	}
	return Normal
}
