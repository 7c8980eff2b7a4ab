package executor

import (
	"context"
	"iter"

	"github.com/magpie-go/magpie/internal/xatomic"
)

// An Item is one unit of work, which a layer embeds in a type of its own. Exec runs the item on a worker and returns
// the item to run next on that worker, or nil. A returned item touches no queue: it is the cache slot of document 000
// (Algorithm 3). Exec may often run the next item itself, see [Worker.Continue]. Items that other workers may run
// meanwhile go to [Worker.Push]. If Exec panics or calls Goexit, [Hooks.Fail] is called.
//
// An item needs an Exec, and a Body with Hooks. If the first item of a job lacks one of these, Start panics. A later
// item without an Exec fails as if that had panicked. An item is in one place at a time: pushed, returned, or being
// run. It may be in several if Exec allows that, and counts for each.
type Item struct {
	Exec func(*Worker, *Item) *Item
	Body *Body
}

// A Body holds what the executor reads of the state that the items of one run share. A layer embeds it in its run
// state, which may serve several runs.
type Body struct {
	hooks   Hooks
	stopper stopper                // the hooks, if they implement it
	run     xatomic.Plain[*JobRun] // set before a worker sees the first item, constant until the run has finished
	flags   xatomic.Uint32         // stopped, progressAsked, disturbed, untold
	single  bool                   // constant: the hooks are a singler
	alone   bool                   // constant: the hooks are a loner
	memo    xatomic.Uint64         // what a feature remembers of the runs that the body has served
}

// Init gives b, which is zero, its hooks. b must not be copied after that.
func (b *Body) Init(h Hooks) {
	b.hooks = h
	b.stopper, _ = h.(stopper)
	_, b.alone = h.(loner)
	_, b.single = h.(singler)
}

// Stopped reports whether the run in progress was cancelled or has failed. Items should then only count themselves
// done. It is a load of a word that hardly ever changes, cheap enough for every item. Any thread.
func (b *Body) Stopped() bool { return b.flags.Load()&stopped != 0 }

// owner returns the run in progress or, of asyncs, their common run. It is nil if there is none.
func (b *Body) owner() *Run { return b.run.Get().asRun() }

// Run returns the run in progress, between Begin and [JobRun.Finish].
func (b *Body) Run() *JobRun { return b.run.Get() }

// Hooks tells a layer about events that its items cannot see. All methods but Release are called on a worker. Hooks may
// have three more methods:
//
//   - OnStop() is called once for a run that is cancelled or has failed, after [Body.Stopped] has become true, on any
//     thread: for a layer that holds items back. The run may be over by then, and the body serve another run. Items of
//     that one which OnStop makes available too early must be held back again.
//   - Alone() bool is for a layer whose tasks wait for each other's effects, by a channel, a lock or the like, only in
//     [Blocking]. It is called on a worker that turns to the run's items, and reports whether only workers make items
//     of the run available, but for the first one, and only by [Worker.Push] or by returning them. An executor with one
//     worker that runs only such items needs no locked instruction for a push or a pop.
//   - Progress() [Progress] returns all but Over. It is called on any thread, under a lock of the run, while the run is
//     in progress, and once at its end, before Release, when Running and Waiting do not matter. It must not call
//     methods of the run.
type Hooks interface {
	// Enter is called when worker w turns to items of the body. Enters and Leaves alternate. No run may finish between.
	Enter(w *Worker)
	// Leave is called when worker w has no more items of the body for now, or turns to those of another.
	Leave(w *Worker)
	// Flush is called after every thousand items or so that worker w has run, when its next item goes to the end of a
	// queue, and when the item being run is about to wait, in [Blocking] or for work on the executor. The layer should now
	// make visible what w has counted, and push what w holds back.
	Flush(w *Worker)
	// Fail accounts for an item whose Exec did not return, because of err: a [*PanicError] or [ErrGoexit]. It returns
	// the item to run next on this worker, or nil, as Exec would have.
	Fail(w *Worker, it *Item, err error) *Item
	// Release is called by [JobRun.Finish] when the run no longer needs the body, which may then serve another.
	Release()
}

// A stopper is Hooks with OnStop, a loner is Hooks with Alone, and a progresser is Hooks with Progress.
type (
	stopper    interface{ OnStop() }
	loner      interface{ Alone() bool }
	progresser interface{ Progress() Progress }
)

// A singler is Hooks of a layer whose tasks wait for single items, not for the end of a run.
type singler interface {
	// isOlder reports whether item it, which worker w has taken from its lane, was there before the lane had this mark,
	// or comes from another worker.
	isOlder(it *Item, w *Worker, mark uint64) bool
}

// A Job is work that an executor can run: a *graph.Graph, a *pipeline.Pipeline, or what [NewJob] returns.
//
// A Job may have one more method, Light() bool. If that returns true, short runs cost less: the layer does not refer to
// a JobRun after Finish, and its items call [Body.Look] before they begin anything, in place of [Body.Stopped]. If
// OnStop is to do something for items that no worker runs, it calls [JobRun.Follow].
type Job interface {
	// Begin prepares one execution of the job and returns its first item, or nil if there is nothing to do. It is
	// called by [Executor.Start] on the calling goroutine. If Begin returns an item and no error, the job must call
	// [JobRun.Finish] exactly once, when its last item is done.
	Begin(r *JobRun) (*Item, error)
	// Name returns the job's name for dumps and error messages.
	Name() string
}

// A JobRun is a [Run] with the methods that its [Job] needs. The job gets it from [Job.Begin] and [Body.Run], and ends
// it by calling Finish, once. Unless a method says otherwise, it is for any thread, between Begin and Finish.
type JobRun struct {
	Run
}

// asRun returns the Run of r; nil if r is nil.
func (r *JobRun) asRun() *Run {
	if r == nil {
		return nil
	}
	return &r.Run
}

// Workers returns the number of workers, not counting spare ones.
func (r *JobRun) Workers() int { return r.core.configured }

// WorkersAndSpares returns the number of workers that may run items of the run, spare ones included. It is constant.
func (r *JobRun) WorkersAndSpares() int { return len(r.core.roster) }

// Alone reports whether w, the calling worker, is the only one that may run items of the run, so that the job can save
// what only other workers need. Unless OnlyBlocking of [host.Threads] is set, it is true only for jobs whose Hooks have
// Alone. It never becomes true while w runs items of the run. A task that waits may end it, so call Alone again after a
// task.
func (r *JobRun) Alone(w *Worker) bool { return w.lane.IsAlone() }

// Shuffled reports whether the executor chooses the order in which items run, see [NewInline]. The job must then push
// every item by itself. It is constant.
func (r *JobRun) Shuffled() bool { return r.core.inline != nil }

// Verbatim reports whether the executor has Verbatim in its Config.Experiment. The job must then push, or begin with,
// each task by itself. It is constant.
func (r *JobRun) Verbatim() bool { return r.core.verbatim }

// BeginWith adds items to the one that [Job.Begin] returns. They become available together with it, after it and in
// this order. The executor calls others once, after Begin has returned. Begin only.
func (r *JobRun) BeginWith(others iter.Seq[*Item]) { r.others = others }

// Uncount leaves the item that w, the calling worker, is running out of the tasks in [Stats]. It is for items that only
// push others.
func (r *JobRun) Uncount(w *Worker) { w.counts.overhead++ }

// Inject makes an item of the run available to all workers. It is for items that the job has held back. A running item
// uses [Worker.Push] instead.
func (r *JobRun) Inject(it *Item) {
	r.core.inject(it)
	if r.core.inline != nil {
		r.core.drive(r.core.currentWorker())
	}
}

// Resume makes an item of the run available to all workers, as [JobRun.Inject] does, and puts it into the deque of w,
// the calling worker. w runs an item of any run, or ends another run in [Hooks].Leave or Flush.
func (r *JobRun) Resume(w *Worker, it *Item) {
	r.visit(w) // I5
	effect := w.put(it)
	// D1(push). In Leave the worker is in no body, so tell, not wakeForPushed.
	if w.core.anyoneAsleep() {
		w.tell(effect)
	}
}

// StartWithin starts a job as [Executor.Start] does, nested in r. r must not end before the job's run. The caller is a
// task of r or of a run nested in r.
func (r *JobRun) StartWithin(ctx context.Context, j Job) *Run {
	return r.core.launch(ctx, r.of, j, r.core.currentWorker(), &r.Run, false)
}

// Abort is [Run.Cancel] because of a failure that the job reports by Finish.
func (r *JobRun) Abort(failure error) { r.stop(context.Canceled, failure, nil) }

// NoticeContext cancels the run if the caller's context has ended. A task may see that end before the run is told, and
// fail because of it. So the job calls NoticeContext when a task has failed, or Repeats, which includes it. If a method
// of the context panics, that is the cause.
func (r *JobRun) NoticeContext() { r.noticeContext() }

// Repeats reports whether err, the failure of a task, only says again why the run was stopped. An error of several
// parts does so if all of them do, and a panic only if it is the one that stopped the run.
func (r *JobRun) Repeats(err error) bool {
	r.noticeContext()
	ended, cause := r.ctx.ending()
	return saysAgain(err, ended, cause)
}

// Finish ends the run with the failures of its tasks. It is called once, when every item is done and every worker that
// has entered the body has left it.
func (r *JobRun) Finish(failures ...error) {
	err := join(failures...)
	if err == nil && r.lone.Load() && r.endLone(r.core.currentWorker()) {
		return
	}
	r.keep() // its starter may go on before this thread has told all of the end
	r.endFollowing()
	r.noticeAtEnd()
	r.mu.Lock()
	r.ended = true // from now on Cancel does not touch the body, which may soon serve another run
	body := r.body
	r.err.Set(join(r.err.Get(), err))
	r.failed = err != nil
	r.tellProgress()
	r.body = nil
	r.ctx.cancel(context.Canceled, context.Canceled)
	r.mu.Unlock()
	r.unfollow() // now: until its end, a run stands between those that follow it and the contexts around it
	// Deferred, because a task that an inline executor runs in an OnStop may call Goexit.
	defer r.conclude(body)
	r.stopFollowers()
}

// conclude frees the body and publishes the end of the run. Finish defers it: a task may call Goexit meanwhile.
func (r *JobRun) conclude(body *Body) {
	// Before the end is published, so that a caller that runs the job again finds the body free.
	body.release()
	if r.parent.Load() != nil {
		r.parent.Store(nil)
		r.inside.Store(nil) // set only in a run that has a parent
	}
	r.core.forget(&r.Run)
	r.tellEnd()
}

// endLone is Finish for a lone run without failures, if no worker but w has run items of it. It reports whether it has
// ended the run. w is the calling worker, or nil. If endLone ends the run, its starter calls it, as the guest of w.
//
// Once such a run is forgotten, at most a context that it has given refers to it. Nobody asks for its progress, and
// nobody is to be woken: its end needs no D1(finish).
func (r *JobRun) endLone(w *Worker) bool {
	if w == nil || !r.isOnlyOf(w) || r.ctx.up() != nil {
		return false
	}
	body := r.body
	r.endFollowing()
	r.noticeAtEnd()
	if body.Stopped() || !r.core.forgetLone(&r.Run) {
		return false
	}
	if r.ctx == &r.own {
		r.body = nil
	} else {
		r.endGiven()
	}
	body.release()
	r.over.Store(true)
	defer r.core.running.Done() // as in tellEnd
	r.core.attached.over.make(&r.Run)
	return true
}

// isBounded reports whether b is of a bounded run. b may be nil.
func (b *Body) isBounded() bool {
	if b == nil {
		return false
	}
	r := b.owner()
	return r != nil && r.bounded // nil in core.nowhere
}

// release makes b, whose run ends, ready for another run.
func (b *Body) release() {
	if b.flags.Load() != 0 { // a load is cheap, a store is not
		b.flags.Store(0)
	}
	b.run.Set(nil)
	b.hooks.Release()
}

// tellEnd publishes the end of a run that is forgotten, and tells all that wait for it.
func (r *JobRun) tellEnd() {
	ends := r.publishEnd()
	defer r.core.running.Done() // after all that Close is to wait for: observers are told of the end before Detach
	if r.awaited.Load() > 0 {
		r.core.wakeHelpersOf(&r.Run)
	}
	r.core.attached.over.make(&r.Run)
	r.tellEnds(ends)
}

// HeldUp says that a task of the run waits for something that a task of another run may have to give, such as a permit,
// and that no item stands for it meanwhile. If a worker sleeps in a wait for the run, inside a task, a spare then
// stands in for it, as if it were in [Blocking]. Each call is followed by one of GoesOn. Any thread, before the task
// can go on.
func (r *JobRun) HeldUp() { r.core.spares.Hold() }

// GoesOn undoes HeldUp. Any thread.
func (r *JobRun) GoesOn() { r.core.spares.Release() }
