package executor

import (
	"cmp"
	"context"
	"slices"
)

// Name implements Job.
func (r *groupRun) Name() string { return groupName }

const groupName = "group"

// Light implements Job: skip looks at the caller's context.
func (r *groupRun) Light() bool { return true }

// Begin implements Job.
func (r *groupRun) Begin(run *JobRun) (*Item, error) {
	cause := r.group.cause.Load()
	switch {
	case r.quits:
		run.stop(context.Canceled, r.before, r.before)
	case r.stops:
		run.Abort(r.before)
	case cause != nil:
		run.Cancel(*cause)
	}
	return &r.inbox, nil // see launchEmpty
}

// inherit gives r, which has not begun, what stays of old, the run before: its result and, unless the group keeps
// going, that it was stopped. All functions of old have ended, and old has ended, or is about to.
//
// The caller may be a task that an inline executor runs on top of the end of old. A Wait would not return then, but
// Progress tells that the result is known.
func (r *groupRun) inherit(old *groupRun) {
	if !old.of.Progress().Over {
		_ = old.of.Wait()
	}
	r.before = old.result()
	r.stops = r.before != nil && !r.group.keeps
	r.quits = r.stops && old.of.wasCancelled()
	if old.of.refused && old.before != nil { // before is not old's own
		r.quits = old.quits
	}
	r.errs = slices.Clip(old.errs)
	switch {
	case r.quits:
		r.errs = nil // Begin stops the run with before
	case r.stops, old.of.refused:
		r.errs = []error{r.before}
	}
}

// result returns the error of Wait. The result of the run is known.
func (r *groupRun) result() error {
	if r.of.refused {
		return cmp.Or(r.before, r.of.err.Get())
	}
	return r.of.err.Get()
}

// release ends the state in which r, whose Run is of, waits for further functions.
//
// D1(release): set open to 0. Then the caller looks for a withheld inbox, if the run can have one. Pairs with
// D1(withhold).
func (r *groupRun) release(of *Run) {
	if r.open.CompareAndSwap(1, 0) {
		if parent := of.parent.Load(); parent != nil {
			partsOfRun(parent).groups.Add(-1)
		}
		r.out(1)
	}
}

// releaseGroups releases the runs of groups that nobody may wait for, so that Close does not wait for ever. A group
// that is nested in a run or a future is released only after that one: its task may still use the group, and wait for
// it. The executor is closed.
//
// A run of a group that is not in the list yet is nested, since admit and refuse hold core.mu. The end of the run
// around it releases it, see leaveGroups.
func (ex *executor) releaseGroups() {
	var open []*Run
	ex.mu.Lock()
	for _, r := range ex.listRuns() {
		if _, ok := r.job.(*groupRun); ok && !ex.isOpen(r.parent.Load()) {
			open = append(open, r)
		}
	}
	ex.mu.Unlock()
	for _, r := range open {
		g := r.job.(*groupRun)
		g.release(r)
		g.show()
	}
}

// isOpen reports whether r is in progress or, if it is the run of futures, whether any future is. The caller holds
// core.mu.
func (ex *executor) isOpen(r *Run) bool {
	if r == &ex.asyncs.all.Run {
		return ex.asyncs.left.Load() != 0
	}
	return r != nil && ex.isInProgress(r)
}

// attachGroups has the kernel, and the futures, tell of ends.
func attachGroups(ex *executor, on *attachments) {
	if ex.guests != nil {
		ex.groupSites = &sites[groupRun]{}
		ex.guests.quiets.ticked = append(ex.guests.quiets.ticked, showLateGroups)
	}
	on.over = append(on.over, leaveGroups)
	// D1(refuse): close, then look for groups without a run or future around them. Pairs with D1(leave).
	on.refused = append(on.refused, ex.releaseGroups)
	ex.asyncs.over = append(ex.asyncs.over, leaveGroups)
}

// leaveGroups is called after the end of r, or of the last future. If the executor is closed, it releases the groups
// that were nested in it.
//
// D1(leave): end, then look whether the executor is closed. Pairs with D1(refuse).
func leaveGroups(r *Run) {
	if partsOfRun(r).groups.Load() > 0 && r.core.closed.Load() {
		executorOf(r.core).releaseGroups()
	}
}

// execGroupTask calls a function of a group.
func execGroupTask(w *Worker, it *Item) *Item {
	r := groupRunOf(it.Body)
	for {
		t := groupTaskOf(it)
		var err error
		if r.skip(w, t) {
			r.Run().SkipTask(w, nil, nil)
		} else {
			err = r.call(t, r.of.Context())
		}
		if it = r.endTask(w, t, err); it == nil || !w.Continue(it) {
			return it
		}
	}
}

// groupFunctions are the tasks of every Group, as observers see them.
var groupFunctions = newTaskSet(groupName, "")

// execGroupTaskObserved calls a function of a group, and tells the observers of it.
func execGroupTaskObserved(w *Worker, it *Item) *Item {
	t := groupTaskOf(it)
	r := groupRunOf(it.Body)
	var err error
	if run, task := r.Run(), &groupFunctions.Tasks[0]; r.skip(w, t) {
		run.SkipTask(w, task, r.whySkipped(t))
	} else {
		err = run.CallTask(w, task, func(ctx context.Context) error { return r.call(t, ctx) })
	}
	return r.endTask(w, t, err)
}

// whySkipped returns the reason for which t, which skip has skipped, is not called, or nil if the run is stopped.
func (r *groupRun) whySkipped(t *groupTask) error {
	if t.handle != nil {
		return t.handle.err
	}
	return nil
}

// skip reports whether the function of t is not to be called, and if so notes why in its handle.
func (r *groupRun) skip(w *Worker, t *groupTask) bool {
	if t.handle != nil && t.handle.err != nil { // a task before it has failed, or was skipped
		return true
	}
	var skips bool
	if t.fn == nil {
		skips = r.Look()
	} else {
		skips = r.Stopped() && w.core.aborted.Load() != nil // Shutdown skips all
	}
	if skips && t.handle != nil {
		t.handle.err = r.of.whyStopped() // no other thread looks before the task has ended
	}
	return skips
}

func (r *groupRun) call(t *groupTask, ctx context.Context) error {
	if t.fn != nil {
		return t.fn()
	}
	return t.cfn(ctx)
}

// endTask ends t with err. It returns the item to run next, or nil.
func (r *groupRun) endTask(w *Worker, t *groupTask, err error) (next *Item) {
	if err != nil {
		r.fail(err)
	}
	g := r.group
	if t.turn.lent {
		t.turn.lent = false
	} else if g.limit >= 0 {
		if t := g.passTurn(); t != nil {
			next = &t.Item
		}
	}
	t.groupFunction = groupFunction{}
	p := partsOf(w)
	p.futures++
	switch {
	case t.handle != nil:
		r.endHandle(w, t.handle, err)
	case next == nil && p.batch != nil && p.claimFor(t):
		next = &t.Item
	default:
		t.Body = nil
		p.groupTasks.put(t, &executorOf(w.core).groupTasks)
	}
	return next
}

// endHandle offers the tasks for which t was the last to wait for.
func (r *groupRun) endHandle(w *Worker, t *GroupTask, err error) {
	g := t.g
	var ready []*GroupTask
	g.mu.Lock()
	t.ended = true
	if t.err == nil {
		t.err = err
	}
	for _, after := range t.then {
		if after.err == nil {
			after.err = t.err
		}
		if after.waits--; after.waits == 0 {
			ready = append(ready, after)
		}
	}
	t.then = nil
	g.mu.Unlock()
	for _, after := range ready {
		r.offer(w, &after.task)
	}
}

// fail records err, and stops the run if it is the first failure, unless the group keeps going.
func (r *groupRun) fail(err error) {
	run := r.Run()
	if run.Repeats(err) {
		return
	}
	if r.note(err) && !r.group.keeps {
		run.Abort(err)
	}
}

// note records err if it is the first failure or the group keeps going, and reports whether it is the first. The caller
// holds a unit of left.
func (r *groupRun) note(err error) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	first := len(r.errs) == 0 && !r.quits
	if first || r.group.keeps {
		r.errs = append(r.errs, err)
	}
	return first
}

// Leave implements Hooks.
func (r *groupRun) Leave(w *Worker) {
	partsOf(w).detach()
	n := partsOf(w).futures
	partsOf(w).futures = 0
	r.out(n + 1)
}

// Flush implements Hooks.
func (r *groupRun) Flush(w *Worker) {
	n := partsOf(w).futures
	partsOf(w).futures = 0
	if n > 0 {
		r.left.Out(n) // not the end: w is counted
	}
}

// Fail implements Hooks.
func (r *groupRun) Fail(w *Worker, it *Item, err error) *Item {
	return r.endTask(w, groupTaskOf(it), inJob(err, groupName))
}

// Release implements Hooks.
func (r *groupRun) Release() {}

// launchEmpty is launch for a job whose items come later. The item that its Begin returns only says which body they are
// of: it is not made available.
func (ex *core) launchEmpty(ctx context.Context, of any, j Job, w *Worker, parent *Run, tries bool) *Run {
	r, first := ex.prepare(ctx, of, j, w, parent, tries)
	if first != nil {
		r.entrust(w)
	}
	return &r.Run
}
