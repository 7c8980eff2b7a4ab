package parallel

import (
	"weak"

	"github.com/magpie-go/magpie/internal/hugepage"
	"github.com/magpie-go/magpie/internal/xsync"
)

// A scratch keeps an array that a sort needed, for the next sort, unless the garbage collector runs between the two.
// Where the kernel or the hypervisor is slow to provide pages, fresh ones cost up to half of a sort's time.
//
// An array that is kept does not keep alive what its elements point to: the collector does not look at it.
type scratch[T any] struct {
	mu   xsync.Mutex
	last weak.Pointer[[]T] // under mu
	size int               // the length of last; under mu
}

// scratchLeast is from how many elements on an array is kept. Smaller ones do not come from the kernel each time.
const scratchLeast = 1 << 17

// take returns an array of length n, whose elements may have any value.
func (s *scratch[T]) take(n int) []T {
	if n < scratchLeast {
		return make([]T, n)
	}
	if kept := s.takeKept(n); kept != nil {
		return (*kept)[:n]
	}
	return hugepage.Make[T](n)
}

// takeKept returns the array that is kept if it has room for n elements and not for more than twice as many. A much
// larger one is left to the garbage collector: small sorts would keep it alive.
func (s *scratch[T]) takeKept(n int) *[]T {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.size < n || s.size/2 > n {
		return nil
	}
	kept := s.last.Value()
	s.last, s.size = weak.Pointer[[]T]{}, 0
	return kept
}

// giveBack keeps array, which take has returned, and which nobody uses any more.
func (s *scratch[T]) giveBack(array []T) {
	array = array[:cap(array)]
	if len(array) < scratchLeast {
		return
	}
	kept := weak.Make(&array)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last, s.size = kept, len(array)
}

var (
	scratch8  scratch[uint8]
	scratch16 scratch[uint16]
	scratch32 scratch[uint32]
	scratch64 scratch[uint64]

	scratchTexts   scratch[text]
	scratchStrings scratch[string]
)
