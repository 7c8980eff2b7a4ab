package executor

import "context"

// Go starts a child of the scope: fn runs on any worker, as part of the same run. If it fails, it cancels the run.
// Children that have not begun when the run is stopped are skipped. fn must not use s, see [Scope.Spawn].
func (s *Scope) Go(fn func(context.Context) error) {
	if fn == nil {
		panic("executor: Scope.Go of a nil function")
	}
	s.spawn(fn, nil)
}

// Spawn is Go for a function that starts children of its own. fn gets a scope, and its children end before it does. The
// worker that has called fn waits for these children on its stack, even after fn has returned, and runs them on top: so
// the depth of children in children is bounded, see [ErrTooDeep].
func (s *Scope) Spawn(fn func(*Scope) error) {
	if fn == nil {
		panic("executor: Scope.Spawn of a nil function")
	}
	s.spawn(nil, fn)
}

func (s *Scope) spawn(fn func(context.Context) error, sfn func(*Scope) error) {
	s.mustBeGiven()
	w := s.w
	var frame struct{}
	if here := frameOf(&frame); !s.isHome(here) {
		forksOf(w).check(s, here)
	}
	c := forksOf(w).children
	if c == nil {
		c = &child{}
		c.Exec, c.owner, c.kind = execChild, w, isChild
		if executorOf(w.core).observers.tellsTasks() {
			c.Exec = execChildObserved
		}
	} else {
		forksOf(w).children = c.next
	}
	c.fn, c.sfn = fn, sfn
	forksOf(w).expose() // first: older forks lie below the child in the lane
	c.mark = w.lane.Mark()
	c.setOrigin(s)
	c.next = s.children
	s.children = c
	s.noteChildren()
	w.Push(&c.Item)
}

// Wait waits until all children of the scope have ended. Meanwhile the worker runs the children, the calls that the
// scope has forked after the first child, and what these have started, and nothing else. Of the failures of children
// Wait returns that of the first one started. A skipped child counts as failed with the cause for which the run was
// stopped.
func (s *Scope) Wait() error {
	s.mustBeGiven()
	var frame struct{}
	forksOf(s.w).check(s, frameOf(&frame))
	if s.children == nil {
		return nil
	}
	return s.joinChildren()
}

// execChild calls a child.
func execChild(w *Worker, it *Item) *Item {
	c := childOf(it)
	f := &c.fork
	s := forksOf(w).beginTaken(f)
	if r := s.run; r.Look() || w.waits.nested > maxNested {
		c.skip(w, r, nil)
	} else {
		var err error
		if c.fn != nil {
			err = c.fn(r.context())
		} else {
			err = c.sfn(s)
		}
		if err != nil {
			c.err = err
			r.fail(f, err, s.skipped)
		}
	}
	forksOf(w).endTaken(f)
	return nil
}

// execChildObserved calls a child, and tells the observers of it.
func execChildObserved(w *Worker, it *Item) *Item {
	c := childOf(it)
	f := &c.fork
	s := forksOf(w).beginTaken(f)
	if r := s.run; r.Look() || w.waits.nested > maxNested {
		c.skip(w, r, &r.tasks[childTask])
	} else if err := c.callObserved(w, s); err != nil {
		c.err = err
		r.fail(f, err, s.skipped)
	}
	forksOf(w).endTaken(f)
	return nil
}

func (c *child) callObserved(w *Worker, s *Scope) error {
	r := s.run
	return callTask(w, &r.Run().Run, &r.tasks[childTask], r.context(), func(ctx context.Context) error {
		if c.fn != nil {
			return c.fn(ctx)
		}
		return c.sfn(s)
	})
}

// skip ends c, which is not called: its run is stopped, or it would lie too deep on w's stack. That is a failure of the
// run. task is nil without observers.
func (c *child) skip(w *Worker, r *scopeRun, task *TaskInfo) {
	if r.Stopped() {
		c.err, c.skipped = r.Run().whyStopped(), true
	} else {
		c.err = ErrTooDeep
	}
	r.Run().SkipTask(w, task, c.err)
	if !c.skipped {
		r.fail(&c.fork, c.err, false)
	}
}
