package executor

// finish ends what a call with scope s has started: its children, and its forks above level that are not joined.
func (s *Scope) finish(level uint64) {
	if s.children != nil {
		_ = s.joinChildren()
	}
	forksOf(s.w).drop(level, forksOf(s.w).complete)
}

// finished ends what a call with scope s has started, if there is anything, and returns r, what the call has returned.
//
//go:noinline
func finished[R any](s *Scope, level uint64, r R) R {
	if s.children != nil || forksOf(s.w).level() != level {
		s.finish(level)
	}
	return r
}

// complete runs a fork that will not be joined, or waits until it has been run. Its failure becomes the run's. One that
// would lie too deep on the worker's stack is not run: each may have been forked by the one below.
func (f *forks) complete(unjoined *fork) {
	w := f.w
	w.waits.nested++
	defer func() { w.waits.nested-- }()
	if unjoined.level > f.public {
		unjoined.setOrigin(f.scope) // publish does nothing on an inline worker
		f.publish()                 // now: what unjoined forks would else publish older forks, from another scope (I7)
	}
	switch {
	case !f.takeBack(unjoined):
	case w.waits.nested > maxNested:
		unjoined.err = ErrTooDeep
	default:
		w.runWithin(unjoined.Body.owner(), unjoined.Body, &unjoined.Item)
	}
	unjoined.tellFailure()
}

// joinChildren waits until all children of the scope have ended, as Wait says. There is at least one.
func (s *Scope) joinChildren() (err error) {
	w := s.w
	mark := s.children.mark
	for c := s.children.next; c != nil; c = c.next {
		if int64(c.mark-mark) < 0 { // the oldest child's mark may not be the lowest: forks below may have been joined
			mark = c.mark
		}
	}
	w.waits.nested++
	defer func() { w.waits.nested-- }()
	forksOf(w).expose()
	forksOf(w).runDownTo(s.body, mark)
	for c := s.children; c != nil; c = s.children {
		forksOf(w).await(&c.fork)
		if c.err != nil {
			err = c.err
		}
		s.run.pass(&c.fork, s.fork)
		s.skipped = s.skipped || c.skipped
		s.children = c.next // now: if Goexit ends the next await, abandon joins the rest
		s.noteChildren()
		c.Body, c.fn, c.sfn = nil, nil, nil
		c.reset()
		c.next = forksOf(w).children
		forksOf(w).children = c
	}
	return err
}

// noteChildren is called after the scope may have got its first child, or lost its last one.
func (s *Scope) noteChildren() {
	if s.children != nil {
		s.top.hide()
	} else {
		s.top.show()
	}
}

// adopt appends older children to the scope's.
func (s *Scope) adopt(older *child) {
	end := &s.children
	for *end != nil {
		end = &(*end).next
	}
	*end = older
	s.noteChildren()
}

// abandon ends what s has started, after a failure. Forks that no other worker has taken are not run.
func (f *forks) abandon(s *Scope) {
	f.drop(s.level, func(unjoined *fork) {
		if !f.takeBack(unjoined) {
			unjoined.tellFailure()
		}
	})
	if s.children != nil {
		_ = s.joinChildren()
	}
}
