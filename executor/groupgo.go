package executor

import (
	"context"
	"runtime"
)

// GroupWithContext returns a group whose functions run on ex, which may be nil, see [Default], and a context derived
// from ctx that is cancelled when a function fails, by [Group.Cancel], or when Wait returns. The group should be waited
// for even if it got no function.
func GroupWithContext(ctx context.Context, ex *Executor) (*Group, context.Context) {
	ex = chooseFor(ctx, ex, "GroupWithContext")
	g := NewGroup(ex)
	g.ctx = ctx
	r := g.begin(ex.currentWorker(), false)
	if !r.of.refused {
		r.out(1) // the unit for a function
	}
	return g, r.of.Context()
}

// Go calls fn on the executor. The first failure cancels the group's context, and is the error of Wait. fn is called
// even if the group has failed or was cancelled. It is not called if the executor is closed or shut down, or if the
// caller's context had ended when the group began: at GroupWithContext or, after a Wait, at the next function. Then
// Wait returns that error, or the one that it has returned before. Go panics if the limit is 0.
//
// With a limit, Go called from outside waits until fn has its turn, and runs no function meanwhile. Called from a task
// it waits, as in [Blocking], only if 256 functions wait already; where it cannot wait, fn is added to the queue, see
// MIGRATING.md. If all functions that the limit allows are in Go, or the limit is 1, Go called from a function of the
// group calls fn itself, at most 256 deep, as long as 256 functions wait. So the caller must hold no lock that fn
// takes, and fn must not wait for what the caller does next. A [runtime.Goexit] in fn also ends the caller.
func (g *Group) Go(fn func() error) {
	if fn == nil {
		panic("executor: Group.Go of a nil function")
	}
	g.add(fn, nil)
}

// GoContext is Go for a function that gets the group's context. It is not called if the group has failed or was
// cancelled by then. The context is cancelled when Wait returns: functions that come after it get another.
func (g *Group) GoContext(fn func(context.Context) error) {
	if fn == nil {
		panic("executor: Group.GoContext of a nil function")
	}
	g.add(nil, fn)
}

// TryGo is Go if the function can run at once, as far as the limit goes and, for the group's first function, there is
// room for the group in [Config.MaxRuns]. It reports whether it was. It does not wait.
func (g *Group) TryGo(fn func() error) bool {
	if fn == nil {
		panic("executor: Group.TryGo of a nil function")
	}
	g.mustBeMade()
	if g.limit >= 0 && !g.reserve() {
		return false
	}
	w := g.ex.currentWorker()
	r := g.enter(w, true)
	if r == nil {
		if g.limit < 0 {
			return false
		}
		if next := g.passTurn(); next != nil {
			groupRunOf(next.Body).submit(w, next)
		}
		return false
	}
	r.submit(w, r.task(w, groupFunction{fn: fn}))
	return true
}

// GoAfter is GoContext for a function that begins when all tasks in after have ended. If one of them has failed, or was
// not called, fn is not called either. GoAfter does not wait, even with a limit. It panics if an element of after is
// nil or belongs to another group. It has then started nothing.
func (g *Group) GoAfter(fn func(context.Context) error, after ...*GroupTask) *GroupTask {
	if fn == nil {
		panic("executor: Group.GoAfter of a nil function")
	}
	for _, before := range after {
		if before == nil || before.g != g {
			panic("executor: Group.GoAfter is to come after a task that is nil or of another group")
		}
	}
	g.mustBeMade()
	g.check()
	w := g.ex.currentWorker()
	t := &GroupTask{g: g}
	r := g.enter(w, false)
	if r == nil {
		t.ended, t.err = true, ErrClosed
		return t
	}
	t.task.Exec, t.task.Body, t.task.cfn, t.task.handle = r.exec, &r.Body, fn, t
	g.mu.Lock()
	for _, before := range after {
		if !before.ended {
			before.then = append(before.then, t)
			t.waits++
		} else if before.err != nil {
			t.err = before.err
		}
	}
	ready := t.waits == 0
	g.mu.Unlock()
	if ready {
		r.offer(w, &t.task)
	}
	return t
}

// Cancel cancels the group's context with the cause, for good: only the first Cancel counts. Functions of GoContext and
// GoAfter that have not begun are not called, and the error of Wait matches [context.Canceled] and the cause, unless
// the group has failed before. A nil cause means context.Canceled. While the group has no function, as after Wait,
// Cancel changes the error of Wait only once there is another.
func (g *Group) Cancel(cause error) {
	g.mustBeMade()
	if cause == nil {
		cause = context.Canceled
	}
	g.cause.CompareAndSwap(nil, &cause)
	// D1(quit): set the cause, then look for a run. Pairs with D1(renew).
	if r := g.run.Load(); r != nil {
		r.of.Cancel(*g.cause.Load())
	}
}

// Wait waits until all functions of the group have returned, and returns the first failure as it is. If the group was
// cancelled, or the caller's context has ended, before any failure, the error says that first. It then also has the
// first failure that does not only say the same again. If the executor was closed before the first function, it is
// [ErrClosed].
//
// The group may be used again after Wait. Its error stays: each later Wait returns it, whatever the functions that come
// in between return.
//
// Meanwhile Wait runs functions of the group and what they start, as [Run.Wait] does, on a worker and outside.
// Wait panics if it is called from a function of the group: it would wait for itself.
func (g *Group) Wait() error {
	g.mustBeMade()
	r := g.run.Load()
	if r == nil {
		return nil
	}
	if !r.of.over.Load() && g.ex.currentWorker().run().isWithin(r.of) {
		panic("executor: Group.Wait in a function of the group: it would wait for itself")
	}
	r.release(r.of)
	r.runWithheld()
	_ = r.of.Wait()
	r.noteSite()
	return r.result()
}

// add gives a function to the group: fn, or cfn if that is nil.
func (g *Group) add(fn func() error, cfn func(context.Context) error) {
	g.mustBeMade()
	g.check()
	w := g.ex.currentWorker()
	if w == nil && g.limit < 0 && g.give(fn, cfn) {
		return
	}
	switch r := g.enter(w, false); {
	case r == nil:
	case w != nil:
		r.takeInTask(w, r.task(w, groupFunction{fn, cfn}))
	default:
		r.take(fn, cfn)
	}
}

// enter counts a function in. It returns the run that it is of, or nil if there can be none. w is the calling worker,
// or nil. If tries is set it does not wait for room.
func (g *Group) enter(w *Worker, tries bool) *groupRun {
	r := g.run.Load()
	if r == nil || w == nil && g.ex.closed.Load() || !r.left.TryIn() {
		r = g.begin(w, tries)
	}
	if r == nil || r.of.refused {
		return nil
	}
	if !r.used.Load() {
		r.used.Store(true)
	}
	return r
}

// begin starts a run of the group, unless there is one, and counts a function in. If there can be none, it returns a
// run that was refused, or nil. If tries is set it does not wait for room.
func (g *Group) begin(w *Worker, tries bool) *groupRun {
	if w == nil && g.ex.inline == nil && (g.ex.intake == nil || !isInOnEnd(workerHere())) {
		// One goroutine starts a run, and may wait for room. A worker does not wait for it, nor does a function of
		// OnEnd on a worker of another executor.
		if !g.lockStart(tries) {
			return nil
		}
		defer g.start.Unlock()
	}
	for {
		old := g.run.Load()
		if old != nil && old.left.TryIn() {
			if w != nil || !g.ex.closed.Load() {
				return old
			}
			old.note(ErrClosed)
			old.out(1)
			return nil
		}
		r := &groupRun{group: g, exec: execGroupTask}
		if g.ex.observers.tellsTasks() {
			r.exec = execGroupTaskObserved
		}
		if old != nil {
			r.inherit(old)
		}
		r.Body.Init(r)
		r.inbox.Exec, r.inbox.Body = execInbox, &r.Body
		r.open.Store(1)
		r.left.Start(2) // the function, and until release
		parent := w.run()
		if parent != nil {
			partsOfRun(parent).groups.Add(1)
		}
		r.of = g.ex.launchEmpty(g.ctx, g.ex, r, w, parent, tries)
		if r.of.refused {
			r.open.Store(0) // release has nothing to count out
			r.left.Out(2)
			if parent != nil {
				partsOfRun(parent).groups.Add(-1)
			}
			if tries && isSame(r.of.err.Get(), ErrBusy) {
				return nil // the group is as before
			}
		}
		if g.run.CompareAndSwap(old, r) {
			// D1(renew): set the run, then look for a cause. Pairs with D1(quit).
			if cause := g.cause.Load(); cause != nil {
				r.of.Cancel(*cause)
			}
			return r
		}
		if !r.of.refused {
			r.errs = nil // it is no failure that two have begun; the end of one that quits is told
			r.release(r.of)
			r.out(1)
		}
	}
}

// lockStart locks start. If tries is set, it returns false where the goroutine that has locked start may wait for room.
func (g *Group) lockStart(tries bool) bool {
	if in := g.ex.intake; tries && in != nil {
		for !g.start.TryLock() {
			if in.hasQueue() {
				return false
			}
			runtime.Gosched() // it has room
			giveWay()
		}
		return true
	}
	g.start.Lock()
	return true
}
