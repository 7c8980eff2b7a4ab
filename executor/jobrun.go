package executor

import "context"

// A JobRun is a [Run] as its [Job] sees it: it is for implementations of Job, to which [Job.Begin] and [Body.Run] give
// it. Others get the Run.
//
// A run ends with Finish, which the job calls once. Unless a method says otherwise, it may be called from any thread
// between Begin and Finish.
type JobRun struct {
	Run
}

// asRun is the run as others see it; nil if r is.
func (r *JobRun) asRun() *Run {
	if r == nil {
		return nil
	}
	return &r.Run
}

// Workers is the number of workers that may run items of the run, spare ones included: their IDs are below it.
func (r *JobRun) Workers() int { return len(r.ex.roster) }

// Alone reports whether w, the calling worker, is the only one that may run items of the run, so that the job can save
// what only other workers need. A task that calls [Blocking] may end that for good: an answer from before the task is
// not to be relied on after it. It costs a load.
func (r *JobRun) Alone(w *Worker) bool { return w.lane.IsAlone() }

// Shuffled reports whether the executor chooses the order of what is ready, see [NewInline]: then every item is to be
// pushed by itself. It is constant.
func (r *JobRun) Shuffled() bool { return r.ex.inline != nil }

// Uncount leaves the item that w, the calling worker, is running out of the tasks in [Stats]: the item only distributes
// others.
func (r *JobRun) Uncount(w *Worker) { w.uncount() }

// Inject makes an item of the run available to all workers. It is for items that the job has held back; a task pushes
// its own, see [Worker.Push].
func (r *JobRun) Inject(it *Item) {
	r.ex.inject(it)
	if r.ex.inline != nil {
		r.ex.drive(r.ex.currentWorker())
	}
}

// StartWithin starts a job as [Executor.Start] does, nested in r, which must not end before the job's run. It is called
// by a task of r or of a run nested in r.
func (r *JobRun) StartWithin(ctx context.Context, j Job) *Run {
	return r.ex.launch(ctx, j, r.ex.currentWorker(), &r.Run)
}

// Abort stops the run as [Run.Cancel] does, because of a failure that the job reports through Finish.
func (r *JobRun) Abort(failure error) { r.stop(context.Canceled, failure, nil) }

// NoticeContext cancels the run if the caller's context has ended. The run learns of that end by itself, but on another
// goroutine. A task may see it first, and what that task then returns is not the reason why the run ends. So
// NoticeContext is called when a task has failed; Repeats does it too.
//
// A context that panics has ended: the run is cancelled with the [*PanicError] as the cause.
func (r *JobRun) NoticeContext() { r.noticeContext() }

// Repeats reports whether err, the failure of a task, only says again why the run was stopped, which the run reports
// anyhow. An error of several parts does if all of them do. A panic does not, unless it is the one that stopped the
// run.
func (r *JobRun) Repeats(err error) bool {
	r.noticeContext()
	ended, cause := r.ctx.ending()
	return saysAgain(err, ended, cause)
}

// Finish ends the run with the failures of its tasks. It is called when every item of the run has been counted, see
// [Hooks].
func (r *JobRun) Finish(failures ...error) {
	err := join(failures...)
	if r.unlink != nil {
		r.ctx.unfollow(r.unlink)
		r.noticeContext() // a context that ended in time counts, however late its news
	}
	r.mu.Lock()
	r.ended = true // from here on no Cancel reaches the body, which may soon serve another run
	body := r.body
	r.err.Set(join(r.err.Get(), err))
	r.body = nil
	r.ctx.cancel(context.Canceled, context.Canceled)
	r.mu.Unlock()

	// The state goes back before the end is published: a caller that runs the job again finds it.
	body.stop.Store(false)
	body.run.Set(nil)
	body.hooks.Release()
	r.parent.Store(nil)
	r.ex.forget(&r.Run)
	r.mu.Lock()
	// D1(finish): over, then look for helpers that wait for it. Pairs with D1(help).
	r.over.Store(true)
	if r.done != nil {
		close(r.done)
	}
	r.mu.Unlock()
	if r.awaited.Load() > 0 {
		r.ex.wakeHelpersOf(&r.Run)
	}
}
