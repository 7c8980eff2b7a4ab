//go:build (!linux || magpie_portable_park) && !modelcheck

package park

import (
	"sync"

	"github.com/magpie-go/magpie/internal/xatomic"
)

// Kind names how threads sleep in this build.
const Kind = "portable"

// sleeper sleeps on a condition variable. The mutex makes the comparison of the word and the wait one step as seen by
// wake, as the kernel does for a futex.
type sleeper struct {
	mu   sync.Mutex
	cond *sync.Cond // made by the first sleep
}

func (s *sleeper) sleep(word *xatomic.Uint32, while uint32) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cond == nil {
		s.cond = sync.NewCond(&s.mu)
	}
	for word.Load() == while {
		s.cond.Wait()
	}
}

func (s *sleeper) wake(*xatomic.Uint32) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cond != nil {
		s.cond.Signal()
	}
}
