package lane

import (
	"math/rand/v2"
	"slices"

	"github.com/magpie-go/magpie/deque"
)

// shuffled is the owner's end of an inline worker's lane: a bag, from which a seed chooses the item to pop. There is no
// thief.
type shuffled[T any] struct {
	l     *Lane[T]
	items []*T
	rng   *rand.PCG
}

func (s *shuffled[T]) push(p *T) deque.Effect {
	s.l.Pushed++
	s.items = append(s.items, p)
	return deque.Nothing
}

// pop takes any item at index limit or above. An index is a mark here, since the mark is the number of items. The newest
// item gets the place of the one taken, and so may lie below the mark at which it was pushed.
func (s *shuffled[T]) pop(limit uint64) (*T, deque.Effect) {
	n := uint64(len(s.items))
	if n <= limit {
		return nil, deque.Nothing
	}
	return s.remove(limit + s.rng.Uint64()%(n-limit)), deque.Nothing
}

// remove removes the item at index i.
func (s *shuffled[T]) remove(i uint64) *T {
	last := len(s.items) - 1
	p := s.items[i]
	s.items[i] = s.items[last]
	s.items[last] = nil
	s.items = s.items[:last]
	s.l.Popped++
	return p
}

// Take removes an item for which is returns true from a lane of InitShuffled, wherever it lies. It returns nil if there
// is none, and for every other lane. Owner only.
func (l *Lane[T]) Take(is func(*T) bool) *T {
	if !l.shuffled {
		return nil
	}
	s := l.own.(*shuffled[T])
	if i := slices.IndexFunc(s.items, is); i >= 0 {
		return s.remove(uint64(i))
	}
	return nil
}

func (s *shuffled[T]) poll() deque.Effect   { return deque.Nothing }
func (s *shuffled[T]) expose() deque.Effect { return deque.Nothing }
func (s *shuffled[T]) keepOpen(bool)        {}
