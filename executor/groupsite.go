package executor

import (
	"github.com/magpie-go/magpie/internal/pad"
	"github.com/magpie-go/magpie/internal/xatomic"
)

// To wake a thread costs a caller of Go up to some ten microseconds, where a function may take one. If the caller comes
// to Wait at once, it can run the functions itself: a worker need not be told of them. So where groups were over sooner
// in that way, Go withholds the inbox: the workers do not see it, until Wait takes it and runs it as a guest that is
// quiet, see quiet.go.
//
// This time the caller may not come to Wait, or a function may take long. So the inbox is shown to the workers when it
// has more than a batch, and by the clock of quiet guests when it has been withheld for a tick. The clock also ends the
// silence of the caller that runs it. After such a miss, groups of that site tell the workers at once for a while.

// A groupSite is what an executor remembers of groups by their first function: those of one place in the program, as a
// rule. Few places share a site.
type groupSite struct {
	memo   xatomic.Uint64            // of tempo; in silence means that the inbox was withheld
	inbox  xatomic.Pointer[groupRun] // of which it is withheld; P1: publishes trial
	loud   xatomic.Int64             // so many groups to come withhold nothing
	misses xatomic.Int64             // how often one that has withheld its inbox took long
	_      pad.Line
}

const (
	// groupSites is the number of sites. Arbitrary.
	groupSites = 32
	// loudGroups, doubled for each miss but maxMisses times at most, is the number of loud groups after a miss. So in the
	// end one group of a thousand is late, whatever its functions do. Arbitrary.
	loudGroups = 64
	maxMisses  = 4
)

// groupSiteTable has the sites of an executor with guests.
type groupSiteTable [groupSites]groupSite

// siteOf returns the site for groups of which f is the first function.
func (t *groupSiteTable) siteOf(f groupFunction) *groupSite {
	return &t[uint64(f.code())*0x9E3779B97F4A7C15>>32%groupSites]
}

// next says whether the group that begins now withholds its inbox. Several threads that ask at a time may count one
// group less.
func (s *groupSite) next() bool {
	if loud := s.loud.Load(); loud > 0 {
		s.loud.Store(loud - 1)
		return false
	}
	return tempo{&s.memo}.nextWithin(groupSpan)
}

// miss has the next groups withhold nothing.
func (s *groupSite) miss() { s.loud.Store(loudGroups << min(s.misses.Add(1), maxMisses)) }

// take takes the inbox of r, if it is withheld. The caller then runs it or makes it available.
func (s *groupSite) take(r *groupRun) bool {
	return s.inbox.Load() == r && s.inbox.CompareAndSwap(r, nil)
}

// withhold keeps the inbox from the workers, if that is quicker as a rule. It reports whether it did. f is the first
// function that the run has from outside. The caller has set calls.
func (r *groupRun) withhold(f groupFunction) bool {
	ex := r.group.ex
	g := ex.guests
	// Where observers set labels, a caller of Wait runs no function, see helpFromOutside.
	if g == nil || len(ex.attached.labelled) > 0 || !g.mayCome() {
		return false
	}
	s := ex.groupSites.siteOf(f)
	r.trial = trial{since: g.now(), quietly: s.next()}
	switch {
	case !r.trial.quietly:
		r.site.Store(s)
		return false
	case !s.inbox.CompareAndSwap(nil, r):
		return false // another group has withheld its own there, and the time of this one would tell nothing
	}
	r.site.Store(s)
	// D6(hold), for groups: withhold the inbox, then look at the clock.
	g.quiets.need(ex.executor)
	// D1(withhold): withhold the inbox, then look whether a caller waits. Pairs with D1(release).
	return r.open.Load() == 1 || !r.takeWithheld()
}

// takeWithheld takes the inbox if it is withheld. The caller then runs it or makes it available.
func (r *groupRun) takeWithheld() bool {
	s := r.site.Load()
	return s != nil && s.take(r)
}

// show makes the inbox available if it is withheld. The time of the group then tells nothing.
func (r *groupRun) show() {
	if r.takeWithheld() {
		r.site.Store(nil)
		r.group.ex.inject(&r.inbox)
	}
}

// runWithheld has the caller, which waits for the run, run the inbox if it is withheld, or makes it available.
func (r *groupRun) runWithheld() {
	if !r.takeWithheld() {
		return
	}
	ex := r.group.ex
	if workerHere() != nil || !ex.runQuietly(r.of, &r.inbox) {
		ex.inject(&r.inbox)
	}
}

// noteSite notes how long the group has taken, which is over.
func (r *groupRun) noteSite() {
	s := r.site.Load()
	if s == nil || !r.site.CompareAndSwap(s, nil) { // another caller of Wait was first
		return
	}
	taken := r.group.ex.guests.taken(r.trial)
	tempo{&s.memo}.note(taken, r.trial.quietly)
	if r.trial.quietly && taken > int64(groupSpan) {
		s.miss()
	}
}

// showLate makes inboxes available that were withheld for a tick or more.
//
// D6(tick), for groups: the clock was reset before.
func (t *groupSiteTable) showLate(ex *executor) {
	for i := range t {
		s := &t[i]
		if r := s.inbox.Load(); r != nil && ex.guests.isLate(r.trial) && s.take(r) {
			s.miss()
			r.site.Store(nil) // it is counted
			ex.inject(&r.inbox)
		}
	}
}
