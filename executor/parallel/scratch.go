package parallel

import (
	"weak"

	"github.com/magpie-go/magpie/internal/hugepage"
	"github.com/magpie-go/magpie/internal/xsync"
)

// A scratch keeps an array that a sort needed, for the next sort, until the garbage collector runs. An array that is
// fresh from the kernel costs more than a sort by radix in its place, where the kernel or the hypervisor is slow to
// provide pages.
type scratch[K word] struct {
	mu   xsync.Mutex
	last weak.Pointer[[]K] // under mu
}

// scratchLeast is from how many elements on an array is kept. Smaller ones do not come from the kernel each time.
const scratchLeast = 1 << 17

// take returns an array of length n, whose elements may have any value.
func (s *scratch[K]) take(n int) []K {
	if n < scratchLeast {
		return make([]K, n)
	}
	s.mu.Lock()
	kept := s.last.Value()
	s.last = weak.Pointer[[]K]{}
	s.mu.Unlock()
	if kept != nil && cap(*kept) >= n {
		return (*kept)[:n]
	}
	return hugepage.Make[K](n)
}

// giveBack keeps array, which take has returned, and which nobody uses any more.
func (s *scratch[K]) giveBack(array []K) {
	if len(array) < scratchLeast {
		return
	}
	kept := weak.Make(&array)
	s.mu.Lock()
	s.last = kept
	s.mu.Unlock()
}

var (
	scratch8  scratch[uint8]
	scratch16 scratch[uint16]
	scratch32 scratch[uint32]
	scratch64 scratch[uint64]
)
