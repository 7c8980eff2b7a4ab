package executor

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/magpie-go/magpie/internal/xatomic"
	"github.com/magpie-go/magpie/internal/xsync"
)

// A Run is one execution of a job, see [Executor.Start].
type Run struct {
	core *core
	of   any // what is to be reachable as long as the run: the Executor of the program; constant
	job  Job
	body *Body
	ctx  *taskContext // own or, of a run that is kept, see keptRun, perhaps another; constant, but see renew
	own  taskContext

	priority Priority // constant
	endless  bool     // it stands for the work of a feature, and nothing follows it; constant
	bounded  bool     // see attachments.newRun; constant
	following
	caller callerEnd

	launcher xatomic.Plain[*Worker] // the worker whose task started the run, if one did
	mark     uint64                 // of the launcher's lane just before

	parent  xatomic.Pointer[Run] // the run whose task started this one, while both are in progress
	inside  xatomic.Pointer[Run] // a run that this one was found to be within; nil after the end
	visited xatomic.Uint64       // bit id%64: such a worker has run items of this run or of one nested in it
	awaited xatomic.Int32        // workers asleep in help for this run
	alarm   alarm                // for callers of JobRun.Await that are on no worker
	over    xatomic.Bool         // set after err; P1: publishes it

	mu        xsync.Mutex
	cancelled bool
	ended     bool // Finish was called: the body belongs to the next run
	refused   bool // the run did not start, because of err
	failed    bool // Finish was given failures: err tells more than a cancellation
	gated     bool // the gate has counted the run in; constant from before it is counted
	err       xatomic.Plain[error]
	// last is the progress that was told last, without total and left, or that at the end.
	last      struct{ total, done, failed, skipped, left int64 }
	done      chan struct{} // made by the first call of Done
	callbacks []func(error) // to call after the end, see tell; nil once over is set

	others iter.Seq[*Item] // see JobRun.BeginWith; the starter only, until the first item is available

	prev, next *Run // in core.runs; guarded by core.mu

	// lone says that after the end only the starter refers to the run, and may use it again, see renew. It is set before
	// the start, if at all, and then cleared by all that may refer to the run for longer.
	lone xatomic.Bool
}

// Name returns the run's name: that of [RunOptions], or of its job. If the job's Name panics, it says so.
func (r *Run) Name() string {
	r.mustBeMade()
	return nameOf(r.job)
}

// nameOf returns the name of j, or that its Name has panicked: that of a nil pointer does, for example. A name is asked
// for where a panic would be out of place: at the end of a run, in a dump, under locks.
func nameOf(j Job) (name string) {
	defer func() {
		if value := recover(); value != nil {
			name = fmt.Sprintf("(Name panicked: %v)", value)
		}
	}()
	return j.Name()
}

// mustBeMade panics if r is nil or zero.
func (r *Run) mustBeMade() {
	if r == nil || r.core == nil {
		panic("executor: a Run is made by Executor.Start")
	}
}

// Context returns the context that the run's tasks are given. It ends with the caller's context, by a failure or
// Cancel, and with the run.
func (r *Run) Context() context.Context {
	r.mustBeMade()
	if r.ctx == &r.own {
		r.keep()
	}
	return r.ctx
}

// keep notes that something may refer to the run after its end.
func (r *Run) keep() {
	if r.lone.Load() {
		r.lone.Store(false)
	}
}

// isOnlyOf reports whether no worker but w has run items of r.
func (r *Run) isOnlyOf(w *Worker) bool {
	return r.visited.Load() == w.bit() && len(w.core.workers()) <= 64
}

// Done returns a channel that is closed at the end, see [Awaitable].
func (r *Run) Done() <-chan struct{} {
	r.mustBeMade()
	r.keep()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.done == nil {
		r.done = make(chan struct{})
		if r.over.Load() {
			close(r.done)
		}
	}
	return r.done
}

// Cancel ends the run early. Tasks that have not started are skipped, and those that run see their context cancelled
// with the cause; nil means [context.Canceled]. Cancel does not wait. It does nothing if the run has failed, was
// cancelled or has ended.
func (r *Run) Cancel(cause error) {
	r.mustBeMade()
	r.noticeAtEnd() // an earlier end of the caller's context comes first
	r.cancel(context.Canceled, cause)
}

// cancel implements canceller.
func (r *Run) cancel(err, cause error) {
	r.stop(err, cause, newCancelError(nameOf(r.job), err, cause))
}

// noticeAbort implements canceller. It does nothing: all runs are told.
func (r *Run) noticeAbort() {}

// home implements canceller.
func (r *Run) home() any { return r.of }

// leader implements canceller.
func (r *JobRun) leader() *Run {
	if r.endless {
		return nil
	}
	return &r.Run
}

// noticeContext cancels the run if the caller's context has ended, see [JobRun.NoticeContext].
func (r *Run) noticeContext() {
	defer r.ctx.contain()
	r.ctx.notice()
}

// saysAgain reports whether err says only that the run's context has ended, and for what cause. ended is the context's
// error, or nil if it has not ended.
func saysAgain(err, ended, cause error) bool {
	return ended != nil && askError(func() bool {
		looks := maxLooks
		return repeats(err, ended, cause, &looks)
	})
}

// maxLooks is how many errors of a tree repeats and wraps look at: an Unwrap may return an error from higher up.
const maxLooks = 4096

// askError returns question(), or false if it panics: it calls methods of errors, which are user code.
func askError(question func() bool) (yes bool) {
	defer func() { _ = recover() }()
	return question()
}

// repeats reports whether err says only that a context has ended, with ended, and for what cause. It looks at *looks
// errors at most, and may panic in methods of err.
func repeats(err, ended, cause error, looks *int) bool {
	if *looks--; *looks < 0 {
		return false
	}
	if isSame(err, cause) {
		return true
	}
	switch e := err.(type) {
	case *PanicError:
		return false
	case interface{ Unwrap() []error }:
		return !slices.ContainsFunc(e.Unwrap(), func(part error) bool { return !repeats(part, ended, cause, looks) })
	case interface{ Unwrap() error }:
		if repeats(e.Unwrap(), ended, cause, looks) {
			return true
		}
		is, ok := err.(interface{ Is(error) bool })
		return ok && (is.Is(ended) || is.Is(cause))
	}
	return errors.Is(err, ended) || errors.Is(err, cause)
}

// stop stops the run and those that follow it: it cancels the run's context with err and cause, and makes result part
// of the run's error. Only the first stop counts.
func (r *Run) stop(err, cause, result error) {
	r.tellAllStopped(r.stopped(err, cause, result))
}

// tellAllStopped is the second half of stop, after stopped. The caller holds no lock: OnStop is the code of layers, and
// of tasks on an inline executor.
func (r *Run) tellAllStopped(body *Body) {
	defer r.stopFollowers() // also after Goexit, as in tellStopped
	body.tellStopped()
}

// stopped does the part of stop that needs the lock. It returns the body if this call has stopped it.
func (r *Run) stopped(err, cause, result error) *Body {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.stopLocked(err, cause, result) {
		return nil
	}
	return r.body
}

// stopLocked is stopped for a caller that holds mu. It reports whether this call has stopped r.
func (r *Run) stopLocked(err, cause, result error) bool {
	if r.cancelled || r.ended {
		return false
	}
	r.cancelled = true
	r.err.Set(result)
	if r.body != nil { // else embody stops it
		r.body.flags.Or(stopped)
	}
	r.ctx.cancel(err, cause)
	return true
}

// Wait waits for the run's end and returns its error, as [Executor.Run] does. On a worker of the same executor, Wait
// meanwhile runs items of the run and of runs nested in it, and no others. So a task may start runs and wait for them,
// with any number of workers. While a task of any run waits for a permit, or for its end from outside, a spare stands
// in for a worker that sleeps so, as in [Blocking].
//
// A caller from outside, too, runs tasks that no worker has begun, see [Executor.Run]. It does not if other work is
// submitted, or if an [Observer] has a Relabel. To outlive a task that calls Goexit, first wait for Done.
func (r *Run) Wait() error {
	r.mustBeMade()
	if r.over.Load() {
		return r.err.Get()
	}
	here := workerHere()
	if here == nil {
		r.core.attached.tellAwaited(r, r, nil)
	}
	return r.wait(r.core.workerFrom(here), nil)
}

// wait waits for the run's end. w is the calling worker, or nil. If the worker runs items meanwhile, the goroutine has
// the given labels afterwards or, if these are nil, the labels that the worker set last.
func (r *Run) wait(w *Worker, labels context.Context) error {
	if w == nil {
		r.core.block(r)
		return r.err.Get()
	}
	before := w.labels.set
	if labels == nil {
		labels = before
	}
	w.help(r, labels)
	w.labels.set = before // a task that has set labels of its own, as pprof.Do does, restores them itself
	return r.err.Get()
}

func (r *Run) isOver() bool { return r.over.Load() }

func (r *Run) await() {
	<-r.Done()
	r.mu.Lock() // publishEnd sets over under it, after it has closed the channel
	r.mu.Unlock()
}

// isWithin reports whether r is other or nested in it, at any depth.
func (r *Run) isWithin(other *Run) bool {
	for ; r != nil; r = r.parent.Load() {
		if r == other {
			return true
		}
	}
	return false
}

// isFor reports whether a helper of other may run items of r: whether r is within other, also if a run between the two
// has ended. It notes in r that it is: a helper in a deep tree of runs does not walk up the tree for each item.
func (r *Run) isFor(other *Run) bool {
	for o := r; o != nil; o = o.parent.Load() {
		if o == other || o.inside.Load() == other {
			if o != r {
				r.inside.Store(other)
			}
			return true
		}
	}
	return false
}

// visit notes that worker w begins to run items of r: from now on its lane may hold some.
//
// Outer runs come first: a worker with the same bit that finds the bit set in r relies on the runs around r (I5).
func (r *Run) visit(w *Worker) {
	if r == nil || r.visited.Load()&w.bit() != 0 {
		return
	}
	var around []*Run // those to visit, the innermost first
	for o := r.parent.Load(); o != nil && o.visited.Load()&w.bit() == 0; o = o.parent.Load() {
		around = append(around, o)
	}
	for _, o := range slices.Backward(around) {
		o.visited.Or(w.bit())
	}
	r.visited.Or(w.bit())
}

// Progress says how far a run is, see [Run.Progress]. It has no number of the tasks that are ready and wait for a
// worker; RECIPES.md has the reason. If Total is 0, it is about Left − Running − Waiting. See also [Gauges.Pending].
type Progress struct {
	// Total is the number of tasks of the run, or 0 if the job does not tell it, as a graph with conditions or several
	// priorities, a pipeline and [Until] do not. A run of [NewJob] is one task. Of [Times] and Until each run is one.
	Total int64
	// Done is the number of tasks that have run and not failed, or of tokens that have come through a pipeline.
	Done int64
	// Failed is the number of tasks that have failed. A pipeline does not tell it.
	Failed int64
	// Skipped is the number of tasks that were skipped after a failure or cancellation. Of Times and Until a run that was
	// cut short is among them, and of Times those that did not begin. A pipeline does not tell it.
	Skipped int64
	// Left is what remains of Total: tasks that wait for others are among them. If Total is 0, Left is the number of tasks
	// that are ready or run. It then rises and falls, and tells nothing of the tasks to come: show no bar.
	Left int64
	// Running is the number of workers that run the run's tasks, wait inside them, or look whether there are more. Workers
	// that run only items of nested runs are not counted.
	Running int
	// Waiting is the number of tasks of a graph, among those in Left, that have begun and hold no worker: external tasks
	// that wait for their end, subflows, and modules that are run as a whole.
	Waiting int64
	// Over says that the run has ended, with an error or without.
	Over bool
}

// Progress returns how far the run is, without its nested runs. The run of a job whose Hooks have no Progress tells no
// more than Over. The first call may miss a thousand tasks of each worker. It has workers tell what they have done
// before each task from then on, which costs some tens of nanoseconds a task, and Done then misses at most the last
// task of each worker. Done, Failed and Skipped do not go back, except that a task counts as done until a subflow that
// it has detached fails, or a Release of its permits.
func (r *Run) Progress() Progress {
	r.mustBeMade()
	r.keep()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.body == nil {
		return Progress{
			Total: r.last.total, Done: r.last.done, Failed: r.last.failed, Skipped: r.last.skipped, Left: r.last.left,
			Over: r.over.Load() || r.ended,
		}
	}
	p := r.body.progresser()
	if p == nil {
		return Progress{}
	}
	r.body.flags.Or(progressAsked)
	return r.goForward(p.Progress())
}

// goForward returns p with numbers of ended tasks that are no less than those told last. A task may be counted as
// failed or skipped before it counts as ended, and then is missing in p.Done. The new Done is either that or the one
// told last. The caller holds mu.
func (r *Run) goForward(p Progress) Progress {
	l := &r.last
	ended := max(0, p.Done+p.Failed+p.Skipped-l.done-l.failed-l.skipped) // since then
	failed := min(ended, max(0, p.Failed-l.failed))
	skipped := min(ended-failed, max(0, p.Skipped-l.skipped))
	l.done += ended - failed - skipped
	l.failed += failed
	l.skipped += skipped
	p.Done, p.Failed, p.Skipped = l.done, l.failed, l.skipped
	if p.Total > 0 {
		p.Left = p.Total - l.done - l.failed - l.skipped
	}
	return p
}

// progress returns what the hooks of b tell, which may be nil. Where nobody has asked them, their panic is none of the
// caller's: they then tell nothing.
func (b *Body) progress() (p Progress) {
	defer func() { _ = recover() }()
	if progresser := b.progresser(); progresser != nil {
		p = progresser.Progress()
	}
	return p
}

// progresser returns the hooks of b, which may be nil, if they tell their progress.
func (b *Body) progresser() progresser {
	if b == nil {
		return nil
	}
	p, _ := b.hooks.(progresser)
	return p
}

// Values of Body.flags.
const (
	stopped       = 1 << iota // the run was cancelled or has failed
	progressAsked             // Run.Progress was called
	disturbed                 // Disturb was called
	untold                    // the run does not follow its caller's context yet, see Look
)

// Disturbed reports whether an item has more to ask: Stopped, Watched, Look, or that for which Disturb was called. It
// costs as much as one of them. Any thread.
func (b *Body) Disturbed() bool { return b.flags.Load() != 0 }

// Disturb makes Disturbed true until the end of the run in progress, for items that then have more to ask. Any thread,
// while an item is in progress.
func (b *Body) Disturb() { b.flags.Or(disturbed) }

// Watched reports whether [Run.Progress] was called in the run in progress. Items should then make visible what the
// worker has counted, as at [Hooks].Flush, before they begin. Any thread.
func (b *Body) Watched() bool { return b.flags.Load()&progressAsked != 0 }

// tellProgress notes how far the run has come, at its end. The caller holds mu.
func (r *Run) tellProgress() {
	p := r.body.progress()
	r.last.total, r.last.done, r.last.left = p.Total, p.Done, p.Left
	r.last.failed, r.last.skipped = p.Failed, p.Skipped
}
