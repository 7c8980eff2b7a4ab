package executor

import (
	"context"
)

// Broadcast calls fn once on each worker of the executor, with the index of the worker, and waits for all calls. Spare
// workers are not called. The index is that of [Executor.WorkerIndex], from 0 to [Executor.Workers]-1.
//
//	err := executor.Broadcast(ctx, ex, func(_ context.Context, worker int) error {
//		caches.Local().clear()
//		return nil
//	})
//
// A worker that sleeps is woken. A worker that runs tasks calls fn after at most 64 items of a run, or when it has no
// more. A worker whose task waits, in a Run, Wait, Join or another Broadcast, calls fn on top of that task as soon as
// it finds nothing else to do. So tasks may call Broadcast, also several at the same time and with one worker, and a
// Broadcast called from a task is nested in its run. But fn must not wait for a lock that a task holds while it waits.
// Broadcast waits for long tasks: nothing interrupts them, and in [Blocking] a worker calls nothing. If fn's worker is
// in a Blocking that itself waits for the end of the Broadcast, that never comes.
//
// The first failure of a call, or the end of ctx, cancels the context that calls are given. Workers that have not begun
// by then do not call fn. One worker must come to the run, as to every run that is cancelled. The error joins the
// failures, in the order of the workers, as for other runs: a panic is a [*PanicError], and [runtime.Goexit] is
// [ErrGoexit]. A Goexit of a call also ends the tasks on whose top it was made.
//
// If a caller of [Executor.Run] has the worker's place and its task waits, fn may be called there, and not on the
// worker's own thread; see [Config].Callers.
//
// A Broadcast from outside counts as one run of [Config.MaxRuns], and waits for room. It heeds neither [RunOptions] of
// the run around it nor the workers that rest with a task under [Config.Share]: these call fn when they go on. On an
// executor of [NewInline], fn is called once.
//
// A nil ex stands for the executor of ctx, see [FromContext]. Broadcast panics if there is none, and if fn is nil.
func Broadcast(ctx context.Context, ex *Executor, fn func(ctx context.Context, worker int) error) error {
	if fn == nil {
		panic("executor: Broadcast of a nil function")
	}
	ex = executorOr(ctx, ex, "Broadcast")
	b := newBroadcast(ex, fn)
	w := ex.currentWorker()
	r := ex.launch(ctx, b, w, w.run())
	if !r.refused {
		b.post()
	}
	if r.over.Load() {
		return r.err.Get()
	}
	return r.wait(w, r.ctx.labels) // as Run does
}

// A broadcast is the run of a Broadcast. It implements Job, Hooks and Stopper.
type broadcast struct {
	Body
	ex      *Executor
	fn      func(context.Context, int) error
	ctx     context.Context
	opener  Item     // with which the run begins
	letters []letter // by worker
	errs    []error  // by worker; a worker writes its own

	counted // the letters that are not done and the opener, too
}

func newBroadcast(ex *Executor, fn func(context.Context, int) error) *broadcast {
	b := &broadcast{ex: ex, fn: fn, errs: make([]error, ex.cfg.Workers)}
	b.Body = NewBody(b)
	b.Body.addressed = true
	b.opener.Exec, b.opener.Body = execUncounted, &b.Body
	if ex.inline != nil {
		b.opener.Exec = execLetter // of the only worker
		return b
	}
	b.letters = make([]letter, ex.cfg.Workers)
	for i := range b.letters {
		b.letters[i].Exec, b.letters[i].Body = execLetter, &b.Body
	}
	return b
}

// Name implements Job.
func (b *broadcast) Name() string { return "broadcast" }

// Begin implements Job.
func (b *broadcast) Begin(r *JobRun) (*Item, error) {
	b.ctx = r.Context()
	b.left.Start(int64(1 + len(b.letters)))
	return &b.opener, nil
}

// post posts the letters. The run has begun, and may be over.
func (b *broadcast) post() {
	b.ex.letters.Add(int32(len(b.letters))) // less than 0 for a moment, if letters are withdrawn already
	for i := range b.letters {
		b.ex.roster[i].post(&b.letters[i])
	}
	if len(b.letters) > 0 {
		b.ex.wakeForLetters()
	}
	// A run that was stopped before the executor knew its body has called no OnStop.
	if b.Stopped() {
		b.OnStop()
	}
}

func execUncounted(w *Worker, it *Item) *Item {
	w.uncount()
	broadcastOf(it.Body).left.Out(1) // not the end: w is counted
	return nil
}

func execLetter(w *Worker, it *Item) *Item {
	b := broadcastOf(it.Body)
	var err error
	if !b.Stopped() {
		err = b.fn(b.ctx, w.id)
	}
	b.endCall(w, err)
	return nil
}

// endCall ends the call on worker w.
func (b *broadcast) endCall(w *Worker, err error) {
	if run := b.Run(); err != nil && !run.Repeats(err) {
		b.errs[w.id] = err
		run.Abort(err)
	}
	b.left.Out(1) // not the end: w is counted
}

// out counts n units out, and ends the run after the last.
func (b *broadcast) out(n int64) {
	if n > 0 && b.left.Out(n) {
		b.Run().Finish(b.errs...)
	}
}

// OnStop implements Stopper. It withdraws the letters that no worker has claimed.
func (b *broadcast) OnStop() {
	var n int64
	for i := range b.letters {
		if b.letters[i].claim(b.ex.core) {
			n++
		}
	}
	b.out(n)
}

// Leave implements Hooks.
func (b *broadcast) Leave(*Worker) { b.out(1) }

// Flush implements Hooks.
func (b *broadcast) Flush(*Worker) {}

// Fail implements Hooks.
func (b *broadcast) Fail(w *Worker, _ *Item, err error) *Item {
	b.endCall(w, inJob(err, b.Name()))
	return nil
}

// Release implements Hooks. A letter that was withdrawn may stay in its box until the end of a long task.
func (b *broadcast) Release() { b.fn, b.ctx, b.errs = nil, nil, nil }
