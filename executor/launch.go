package executor

import "context"

// Run runs a job and waits for its end, as Start and [Run.Wait] do. The error is nil if every task ran and returned
// nil. The package documentation says what else it can be.
//
// A caller from outside runs the first tasks itself if a worker sleeps, on its own goroutine and in the worker's place,
// unless [Config].Callers is [IdleCallers] or another field of it has the same effect. These tasks have the caller's
// profiler labels. Labels that they set and do not restore stay with the caller, and an observer that sets labels
// leaves the caller with those of ctx. If a task on the caller calls [runtime.Goexit], that ends the caller, whose
// deferred calls are made when the run is over.
func (ex *Executor) Run(ctx context.Context, j Job) error {
	ex.mustBeMade()
	here := workerHere()
	w := ex.workerFrom(here)
	r, first := ex.prepare(ctx, j, w, w.run(), false)
	if first != nil && (here != nil || !ex.runAsGuest(r, first)) {
		r.show(first, w)
	}
	if r.over.Load() {
		return r.err.Get()
	}
	return r.wait(w, r.ctx.labels) // as pprof.Do does, take it that the calling task has the labels of its ctx
}

// Start starts a job and returns without waiting for its end. Cancelling ctx cancels the run. If the run cannot start,
// because the executor is closed, the context cancelled or the job invalid, it is over at once, and its Wait returns
// the error.
//
// A run that is started from a task of the same executor is nested in that task's run.
//
// With a [Config.MaxRuns], Start called from outside waits for room, or for ctx's end, before it starts the run. So the
// caller is slowed down to the pace of the executor, and no error appears only under load. [Executor.TryStart] does not
// wait. Start, TryStart and Run panic if ctx or j is nil.
func (ex *Executor) Start(ctx context.Context, j Job) *Run {
	ex.mustBeMade()
	w := ex.currentWorker()
	return ex.launch(ctx, j, w, w.run())
}

// launch starts j, nested in parent unless that is nil. w is the calling worker, or nil.
func (ex *Executor) launch(ctx context.Context, j Job, w *Worker, parent *Run) *Run {
	return ex.launchOr(ctx, j, w, parent, false)
}

// launchOr starts a run, and waits for room in Config.MaxRuns unless tries is set.
func (ex *Executor) launchOr(ctx context.Context, j Job, w *Worker, parent *Run, tries bool) *Run {
	r, first := ex.prepare(ctx, j, w, parent, tries)
	if first != nil {
		r.show(first, w)
	}
	return &r.Run
}

// prepare starts a run as launchOr does, but does not make its first items available. It returns the first of them, or
// nil if the run is over.
func (ex *Executor) prepare(ctx context.Context, j Job, w *Worker, parent *Run, tries bool) (r *JobRun, first *Item) {
	if ctx == nil || j == nil {
		panic("executor: Run and Start need a context and a job, got nil")
	}
	r = &JobRun{Run{ex: ex, job: j, settings: ex.settingsOf(j, parent)}}
	r.ctx.owner, r.ctx.labels = r, labelsOf(ctx)
	r.ctx.within(ctx)
	r.setUp(&r.Run)
	if w != nil {
		w.noticeContexts()
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
	} else if ctx.Done() != nil {
		r.unlink = r.ctx.follow()
	}
	r.parent.Store(parent)
	if ex.intake != nil && parent == nil && w == nil { // a function of AfterEnd, on a worker, must not wait for room
		if err := ex.intake.enter(ctx, j.Name(), tries); err != nil {
			r.stillborn(err)
			return r, nil
		}
		r.hasRoom = true
	}
	if !ex.admit(&r.Run) {
		if r.hasRoom {
			ex.intake.leave()
		}
		r.stillborn(ex.refusal(&r.Run))
		return r, nil
	}
	if first = r.begin(); first != nil {
		r.embody(first.Body)
		ex.observers.runBegin(&r.Run)
	}
	return r, first
}

// show makes the run's first items available. w is the calling worker, or nil.
func (r *JobRun) show(first *Item, w *Worker) {
	others := r.others
	r.others = nil // the run may end, and be kept
	if w != nil {
		r.mark = w.lane.Mark()
		r.launcher.Set(w)
		w.Push(first)
		if others != nil {
			w.pushAll(others)
		}
	} else {
		r.ex.injectAll(first, others)
		r.ex.drive(nil)
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
	r.body = body
}

// begin calls the job's Begin and returns the first item, or nil if the run is over. The run is over too if Begin
// panics or returns an item that cannot be run, so that Wait and Close do not wait for it.
func (r *JobRun) begin() (first *Item) {
	err := errNotBegun
	defer func() {
		if first == nil {
			r.others = nil
			defer r.ex.running.Done()
			r.ex.forget(&r.Run)
			r.stillborn(err)
		}
	}()
	it, failure := r.job.Begin(r)
	if it != nil && failure == nil && (it.Exec == nil || it.Body == nil || it.Body.hooks == nil) {
		panic("executor: the job's Begin returned an item without an Exec, or without a Body that NewBody has made")
	}
	if err = failure; err == nil {
		first = it
	}
	return first
}

// stillborn ends a run that did not begin.
func (r *Run) stillborn(err error) {
	if r.unlink != nil {
		r.ctx.unfollow(r.unlink)
	}
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
func (ex *Executor) admit(r *Run) bool {
	ex.mu.Lock()
	defer ex.mu.Unlock()
	if ex.closed.Load() && (r.parent.Load() == nil || ex.life.cause.Load() != nil) {
		return false
	}
	r.next = ex.runs.Load()
	if r.next != nil {
		r.next.prev = r
	} else {
		ex.sharing.countIn()
	}
	ex.injector.beginRun(r.settings.priority)
	ex.runs.Store(r) // D3(run): before the run's first item
	ex.inProgress++
	ex.running.Add(1)
	return true
}

// forget removes r from the runs in progress. The caller then calls running.Done, after all that the end of r may
// start.
func (ex *Executor) forget(r *Run) {
	ex.mu.Lock()
	defer ex.mu.Unlock()
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
	ex.injector.endRun(r.settings.priority)
	if ex.runs.Load() == nil {
		ex.sharing.countOut()
	}
	if r.hasRoom {
		ex.intake.leave()
	}
}
