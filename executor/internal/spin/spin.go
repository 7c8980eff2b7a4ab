// Package spin decides how long a caller that waits spins before it blocks.
package spin

import (
	"time"

	"github.com/magpie-go/magpie/internal/xatomic"
)

const (
	// long is how long a caller spins as a rule: about the cost of blocking and being woken, so that at worst the wait
	// takes twice the processor time that it needs.
	long = 50 * time.Microsecond
	// Brief is how long it spins if long spins have been in vain. After that time a caller that spins on offers its
	// core in each round, because a woken worker may wait for that core.
	Brief = 2 * time.Microsecond

	// few is how many long spins in vain, one after the other, change nothing.
	few = 2
	// most is how many of them count. Then 63 waits in 64 are without. Arbitrary.
	most = few + 6
)

// Spins are those of the callers of one executor. Where more callers than workers have long runs, each waits for the
// others, and its spin takes a core from them. So after a few spins in vain the next waits, more and more, go without:
// four clients whose loops take a millisecond, on two cores, waited up to 3.7 ms (p90) instead of 4.3, and eight up to
// 6.3 instead of 7.8 (Xeon, shared, 2026-11-30).
//
// Any thread. Of two calls at a time one may be lost.
type Spins struct {
	vain xatomic.Uint32 // long spins in vain since the last that was not, most of them at most
	left xatomic.Uint32 // waits that go without
}

// Next returns how long the next caller spins.
func (s *Spins) Next() time.Duration {
	if left := s.left.Load(); left > 0 {
		s.left.Store(left - 1)
		return Brief
	}
	return long
}

// Note notes whether a spin, as long as Next has said, was in vain.
func (s *Spins) Note(spin time.Duration, vain bool) {
	if spin < long {
		return
	}
	n := s.vain.Load()
	switch {
	case vain:
		n = min(n+1, most)
		s.vain.Store(n)
		if n > few {
			s.left.Store(1<<(n-few) - 1)
		}
	case n > 0:
		s.vain.Store(0)
	}
}
