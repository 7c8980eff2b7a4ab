package executor

// A Group withholds its inbox, see site, from its first function on until a caller waits. An inbox with more than a
// batch is shown. The guest that runs the inbox is quiet, see quiet.go, until the clock ends that.

// withhold keeps the inbox from the workers, if that is quicker as a rule. It reports whether it did. f is the first
// function that the run has from outside. The caller has set calls.
func (r *groupRun) withhold(f groupFunction) bool {
	ex := r.group.ex
	if !ex.mayWithhold() {
		return false
	}
	s := ex.groupSites.of(f.code())
	r.trial = trial{since: ex.guests.now(), quietly: s.next()}
	switch {
	case !r.trial.quietly:
		r.site.Store(s)
		return false
	case !s.withhold(r):
		return false // the time of this group would tell nothing
	}
	r.site.Store(s)
	// D6(withhold), for groups: withhold the inbox, then look at the clock.
	ex.guests.quiets.need(ex.executor)
	// D1(withhold): withhold the inbox, then look whether a caller waits, or has begun a second batch. Pairs with
	// D1(release) and D1(batch).
	if r.group.full.Load() {
		r.show()
		return true
	}
	return r.open.Load() == 1 || !r.takeWithheld()
}

// takeWithheld takes the inbox if it is withheld. The caller then runs it or makes it available.
func (r *groupRun) takeWithheld() bool {
	s := r.site.Load()
	return s != nil && r.trial.quietly && s.take(r)
}

// show makes the inbox available if it is withheld. That is a miss.
func (r *groupRun) show() {
	if r.takeWithheld() {
		showGroup(r.site.Load(), r)
	}
}

// runWithheld has the caller, which waits for the run, run the inbox if it is withheld, or makes it available.
func (r *groupRun) runWithheld() {
	if !r.takeWithheld() {
		return
	}
	ex := r.group.ex
	if workerHere() != nil || !ex.runQuietly(r.of, &r.inbox, (*groupBurst)(r.site.Load())) {
		ex.inject(&r.inbox)
	}
}

// A groupBurst is what the site of a group withholds beside it.
type groupBurst site[groupRun]

// show implements burst.
func (b *groupBurst) show() { (*site[groupRun])(b).takeIf(all, showGroup) }

// noteSite notes how long the group has taken, which is over.
func (r *groupRun) noteSite() {
	if s := r.site.Load(); s != nil && r.site.CompareAndSwap(s, nil) { // else another caller of Wait was first
		s.note(r.group.ex.guests.taken(r.trial), r.trial.quietly)
	}
}

// showGroup makes the inbox of r available, which was taken from s. That is a miss.
func showGroup(s *site[groupRun], r *groupRun) {
	s.miss()
	r.site.Store(nil) // it is counted
	r.group.ex.inject(&r.inbox)
}

// showLateGroups makes inboxes available that were withheld for a tick or more.
//
// D6(tick), for groups: the clock was reset before.
func showLateGroups(ex *executor) {
	ex.groupSites.takeIf(func(r *groupRun) bool { return ex.guests.isLate(r.trial) }, showGroup)
}
