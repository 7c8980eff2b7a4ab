package executor

import (
	"time"

	"github.com/magpie-go/magpie/internal/xatomic"
)

// Hush lets the next run of b have a quiet guest.
func (b *Body) Hush() { b.memo.Store(1 | 2<<tempoBits | firstTrials<<(2*tempoBits)) }

// Forget lets the next run of b have a guest that is not quiet.
func (b *Body) Forget() { b.memo.Store(0) }

// Tempo returns what b knows of its runs.
func (b *Body) Tempo() (quiet, loud, count int64) { return tempo{&b.memo}.load() }

// StopQuietClock keeps the clock of quiet guests from being set.
func (ex *Executor) StopQuietClock() { ex.guests.quiets.state.Store(clockNeeded) }

// TickQuietClock has the clock of quiet guests tick, which is stopped.
func (ex *Executor) TickQuietClock() { ex.tick() }

// AdmitCallers lets callers take part again that were kept away, because earlier ones have stayed too long.
func (ex *Executor) AdmitCallers() {
	ex.guests.late.Store(0)
	ex.guests.barred.Store(0)
}

// Hushed returns 1 if thieves pass by the lane of that worker, and otherwise 0.
func (ex *Executor) Hushed(worker int) int {
	if ex.roster[worker].lane.HushedBy() != 0 {
		return 1
	}
	return 0
}

// SetReturnClock sets the clock of callers that are expected back.
func (ex *Executor) SetReturnClock() { ex.guests.returns.clock.set() }

// Waiting returns how many callers have found no place.
func (ex *Executor) Waiting() int { return int(ex.guests.returns.waiting.Load()) }

// ExpectedCallers returns how many callers of ex are expected back.
func (ex *Executor) ExpectedCallers() int { return ex.guests.returns.expected(ex.guests.now()) }

// Returns are returns that tests ask, without an executor.
type Returns struct{ e returns }

func (r *Returns) Left(now time.Duration)         { r.e.left(int64(now)) }
func (r *Returns) Came(now time.Duration)         { r.e.came(int64(now)) }
func (r *Returns) Expected(now time.Duration) int { return r.e.expected(int64(now)) }
func (r *Returns) AreLong(now time.Duration) bool { return r.e.areLong(int64(now)) }

// A Tempo is a tempo that tests ask.
type Tempo struct{ word xatomic.Uint64 }

func (t *Tempo) Next() bool                       { return tempo{&t.word}.next() }
func (t *Tempo) Note(d time.Duration, quiet bool) { tempo{&t.word}.note(int64(d), quiet) }

const (
	QuietSpan   = quietSpan
	FirstTrials = firstTrials
	Retrial     = retrial
)

// HushGroups lets the next groups of ex withhold their functions until Wait, if callers take part.
func (ex *Executor) HushGroups() {
	if ex.groupSites == nil {
		return
	}
	hushAll(ex.groupSites)
}

// HushAsyncs lets the next futures of ex from outside be withheld until Wait, if callers take part.
func (ex *Executor) HushAsyncs() {
	if ex.asyncSites != nil {
		hushAll(ex.asyncSites)
	}
}

func hushAll[T any](all *sites[T]) {
	for i := range all {
		all[i].memo.Store(1 | 2<<tempoBits | firstTrials<<(2*tempoBits))
		all[i].loud.Store(0)
		all[i].burst.Store(decidesAnew)
		all[i].longest[0].Store(0)
		all[i].longest[1].Store(0)
	}
}

// LoudGroups returns how many groups to come tell a worker of their functions at once, because the clock has had to.
func (ex *Executor) LoudGroups() (n int64) {
	for i := range ex.groupSites {
		n += ex.groupSites[i].loud.Load()
	}
	return n
}

// NotedGroups returns how many bursts of groups of ex have told how long they took, since ex was made or HushGroups was
// called. The last one of a site has told it, but the site has not learned it yet.
func (ex *Executor) NotedGroups() (n int64) {
	for i := range ex.groupSites {
		s := &ex.groupSites[i]
		_, _, count := tempo{&s.memo}.load()
		n += count % firstTrials
		for j := range s.longest {
			n += min(s.longest[j].Load(), 1)
		}
	}
	return n
}

// GroupTempo returns a number that changes when a group of ex tells how long it took.
func (ex *Executor) GroupTempo() (sum uint64) {
	for i := range ex.groupSites {
		s := &ex.groupSites[i]
		sum += s.memo.Load()
		for j := range s.longest {
			sum += uint64(s.longest[j].Load())
		}
	}
	return sum
}

// LoudAsyncs is LoudGroups for bursts of futures.
func (ex *Executor) LoudAsyncs() (n int64) {
	for i := range ex.asyncSites {
		n += ex.asyncSites[i].loud.Load()
	}
	return n
}

// Withheld returns how many groups of ex withhold their functions, and WithheldAsyncs how many futures are withheld.
func (ex *Executor) Withheld() int       { return withheld(ex.groupSites) }
func (ex *Executor) WithheldAsyncs() int { return withheld(ex.asyncSites) }

func withheld[T any](all *sites[T]) (n int) {
	if all == nil {
		return 0
	}
	for i := range all {
		for j := range all[i].withheld {
			if all[i].withheld[j].Load() != nil {
				n++
			}
		}
	}
	return n
}
