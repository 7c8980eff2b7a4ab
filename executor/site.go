package executor

import (
	"github.com/magpie-go/magpie/internal/pad"
	"github.com/magpie-go/magpie/internal/xatomic"
)

// To wake a thread costs a caller of Go or Async up to some ten microseconds, where a function may take one. If the
// caller comes to Wait at once, it can run the functions itself: a worker need not be told of them. So where that was
// quicker, the caller withholds its work: the workers do not see it, until Wait takes it and runs it as a guest.
//
// This time the caller may not come to Wait, or a function may take long. So the clock of quiet guests shows the workers
// what has been withheld for a tick. After such a miss, work from that site is shown at once for a while.

// A site is what an executor remembers of work that callers from outside start at one place in the program, as a rule:
// it is found by the code of a function. Few places share a site. T is a groupRun or a future.
type site[T any] struct {
	memo   xatomic.Uint64 // of tempo; in silence means that the work was withheld
	burst  xatomic.Uint32 // what the last decision was, if no work has noted its time since
	loud   xatomic.Int64  // so many decisions to come withhold nothing
	misses xatomic.Int64  // misses, each soon after the one before
	calm   xatomic.Int64  // how many withheld bursts were quick since the last miss

	// The longest times noted since the last decision: of work that was told of at once, and of work that was withheld.
	// They say how long the burst took, as a caller that runs one piece after the other waits longest for the last.
	longest [2]xatomic.Int64

	_        pad.Line
	withheld [siteRoom]xatomic.Pointer[T] // what is withheld; P1: publishes its trial
	_        pad.Line
}

// Values of burst.
const (
	decidesAnew = iota
	decidedLoud
	decidedQuiet
)

const (
	// siteCount is the number of sites. Arbitrary.
	siteCount = 32
	// loudDecisions, doubled for each miss but maxMisses times at most, is the number of loud decisions after a miss.
	// So where all withheld work is late, that is one burst of a thousand in the end. Where little of it is, one of
	// some hundred may be. Arbitrary.
	loudDecisions = 64
	maxMisses     = 4
)

// sites has the sites of an executor with guests.
type sites[T any] [siteCount]site[T]

// of returns the site for work that is known by the code of a function.
func (t *sites[T]) of(code uintptr) *site[T] {
	return &t[uint64(code)*0x9E3779B97F4A7C15>>32%siteCount]
}

// next says whether the work that begins now is withheld. Work that begins before the Wait for other work of the site
// is over is part of one burst, and decided alike. Several threads that ask or note at a time may count one decision
// less, or lose a time.
func (s *site[T]) next() bool {
	if burst := s.burst.Load(); burst != decidesAnew {
		return burst == decidedQuiet
	}
	s.learn(0)
	s.learn(1)
	loud := s.loud.Load()
	if loud > 0 {
		s.loud.CompareAndSwap(loud, loud-1)
	}
	quiet := loud <= 0 && tempo{&s.memo}.nextWithin(withheldSpan)
	if quiet {
		s.burst.Store(decidedQuiet)
	} else {
		s.burst.Store(decidedLoud)
	}
	return quiet
}

// learn has tempo learn the longest time of the last burst, of work that was told of at once, or of work that was
// withheld if i is 1.
func (s *site[T]) learn(i int) {
	if s.longest[i].Load() == 0 {
		return
	}
	taken := s.longest[i].Swap(0)
	tempo{&s.memo}.note(taken, i == 1)
	if i == 1 && taken <= int64(withheldSpan) {
		s.calm.Add(1)
	}
}

// note notes how long work has taken, which is over.
func (s *site[T]) note(taken int64, withheld bool) {
	longest := &s.longest[0]
	if withheld {
		longest = &s.longest[1]
	}
	if taken = max(taken, 1); taken > longest.Load() {
		longest.Store(taken)
	}
	s.burst.Store(decidesAnew)
	if withheld && taken > int64(withheldSpan) {
		s.miss()
	}
}

// miss has the next work not withheld, for longer if the last miss was not long ago. Others of the same burst may miss
// too, and do not count.
func (s *site[T]) miss() {
	if s.loud.Load() <= 0 {
		if s.calm.Swap(0) > loudDecisions {
			s.misses.Store(0)
		}
		s.loud.Store(loudDecisions << min(s.misses.Add(1), maxMisses))
	}
	s.burst.Store(decidesAnew) // last: what begins now is decided with loud
}

// withhold keeps x from the workers. It returns false if there is no room.
func (s *site[T]) withhold(x *T) bool {
	for i := range s.withheld {
		if entry := &s.withheld[i]; entry.Load() == nil && entry.CompareAndSwap(nil, x) {
			return true
		}
	}
	return false
}

// take takes x, if it is withheld. The caller then runs it or makes it available.
func (s *site[T]) take(x *T) bool {
	for i := range s.withheld {
		if entry := &s.withheld[i]; entry.Load() == x {
			return entry.CompareAndSwap(x, nil)
		}
	}
	return false
}

// takeIf takes what is withheld and wanted, and calls show with it.
func (s *site[T]) takeIf(wanted func(*T) bool, show func(*site[T], *T)) {
	for i := range s.withheld {
		entry := &s.withheld[i]
		if x := entry.Load(); x != nil && wanted(x) && entry.CompareAndSwap(x, nil) {
			show(s, x)
		}
	}
}

// takeIf takes what is withheld and wanted of all sites, and calls show with it.
func (t *sites[T]) takeIf(wanted func(*T) bool, show func(*site[T], *T)) {
	for i := range t {
		t[i].takeIf(wanted, show)
	}
}

// all wants whatever is withheld.
func all[T any](*T) bool { return true }

// mayWithhold reports whether a caller of Wait may run what is withheld. Where observers set labels, it runs nothing,
// see helpFromOutside.
func (ex *executor) mayWithhold() bool {
	return ex.guests != nil && len(ex.attached.labelled) == 0 && ex.guests.mayCome()
}
