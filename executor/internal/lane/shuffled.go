package lane

import (
	"math/rand/v2"

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

// pop takes any item at index limit or above. An index is a mark here, since the mark is the number of items.
func (s *shuffled[T]) pop(limit uint64) (*T, deque.Effect) {
	n := uint64(len(s.items))
	if n <= limit {
		return nil, deque.Nothing
	}
	i, last := limit+s.rng.Uint64()%(n-limit), n-1
	p := s.items[i]
	s.items[i] = s.items[last]
	s.items[last] = nil
	s.items = s.items[:last]
	s.l.Popped++
	return p, deque.Nothing
}

func (s *shuffled[T]) poll() deque.Effect   { return deque.Nothing }
func (s *shuffled[T]) expose() deque.Effect { return deque.Nothing }
func (s *shuffled[T]) keepOpen(bool)        {}
