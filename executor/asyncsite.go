package executor

// A future of an Async from outside is withheld, see site, until its caller waits for it and runs the function. Those
// that cannot run it show it: Done, OnEnd, an Async that comes after it, Close, a guest that runs another future of its
// site and is about to wait, and the clock. A worker that waits for it runs it, and Cancel ends it, wherever it is.

// withhold keeps f from the workers, if that is quicker as a rule. It reports whether it did. code is that of f's
// function. Nobody else knows of f yet, so nobody can wait for it.
func (f *future) withhold(code uintptr) bool {
	ex := f.ex
	// A caller that waits for room could wait for this one.
	if ex.intake != nil || !ex.mayWithhold() {
		return false
	}
	s := ex.asyncSites.of(code)
	if !ex.notifier.Waiting() && s.burst.Load() != decidedLoud {
		return false // a worker that is awake need not be woken; its futures tell nothing, unless they are of a burst
	}
	f.since = ex.guests.now()
	f.site.Store(s)
	if !s.next() {
		return false
	}
	f.ctx.marks.Or(isQuiet)
	if !s.withhold(f) {
		return false // no room: a worker is told of it, but it is of a burst that is withheld
	}
	// D6(withhold), for futures: withhold f, then look at the clock.
	ex.guests.quiets.need(ex.executor)
	// D1(keep): withhold f, then look whether the executor is closed. Pairs with D1(close).
	if ex.closed.Load() && s.take(f) {
		f.site.Store(nil)
		return false
	}
	return true
}

// takeWithheld takes f if it is withheld, and returns its site, or nil. The caller then runs f or makes it available.
func (f *future) takeWithheld() *site[future] {
	if f.ctx.marks.Load()&isQuiet != 0 && f.claimed.Load() == 0 {
		if s := f.site.Load(); s != nil && s.take(f) {
			return s
		}
	}
	return nil
}

// show makes f available if it is withheld, for one that waits and cannot run it. That is a miss: f could have been run
// meanwhile.
func (f *future) show() {
	if s := f.takeWithheld(); s != nil {
		f.showTaken(s)
	}
}

// showTaken makes f available, which was taken from s, and what else s withholds: the caller may wait for that next.
func (f *future) showTaken(s *site[future]) {
	showFuture(s, f)
	(*futureBurst)(s).show()
}

// runWithheld has the caller, which waits for f, run it if it is withheld, or makes it available. It reports whether f
// was withheld.
func (f *future) runWithheld() bool {
	s := f.takeWithheld()
	if s == nil {
		return false
	}
	seat := f.ex.seat()
	if seat == nil {
		f.showTaken(s)
	} else {
		seat.burst = (*futureBurst)(s)
		f.ex.guests.letOthersRun(seat.takeOnly(f, &f.ex.asyncs.all.Run, &f.Item))
	}
	return true
}

// A futureBurst is what the site of a future withholds beside it.
type futureBurst site[future]

// show implements burst.
func (b *futureBurst) show() { (*site[future])(b).takeIf(all, showFuture) }

// noteSite notes how long f has taken, which is over.
func (f *future) noteSite() {
	if s := f.site.Load(); s != nil && f.site.CompareAndSwap(s, nil) { // else another caller of Wait was first
		s.note(f.ex.guests.taken(trial{since: f.since}), f.ctx.marks.Load()&isQuiet != 0)
	}
}

// showLateFutures makes futures available that were withheld for a tick or more.
//
// D6(tick), for futures: the clock was reset before.
func showLateFutures(ex *executor) {
	ex.asyncSites.takeIf(func(f *future) bool { return ex.guests.isLate(trial{since: f.since}) }, showFuture)
}

// showFuture makes f available, which was taken from s. That is a miss.
func showFuture(s *site[future], f *future) {
	f.site.Store(nil) // it is counted
	if f.claimed.Load() == 0 {
		s.miss()
		f.ex.inject(&f.Item)
	}
}
