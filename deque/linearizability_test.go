package deque_test

import (
	"math/rand/v2"
	"testing"

	"github.com/magpie-go/magpie/deque"
	"github.com/magpie-go/magpie/internal/history"
)

// A scene is a deque and what its owner and some thieves are going to do to it.
type scene struct {
	d       *deque.Deque[item]
	initial int
	items   [32]item // item i is number i, once it was pushed
	pushed  int
	steps   [][]history.Step // of each thread
	ops     [][]history.Op   // likewise
	clock   history.Clock
}

// newScene draws a scene: a ring of two to eight slots, so that growth is near, whose indices are about to wrap or not,
// and a few items in it.
func newScene(rng *rand.Rand, threads int) history.Scene {
	size := 2 << rng.IntN(3)
	start := wrap - uint64(rng.IntN(12))
	if rng.IntN(2) == 0 {
		start = uint64(rng.IntN(12))
	}
	s := &scene{d: deque.NewAt[item](size, start), initial: rng.IntN(min(size, 4) + 1)}
	for range s.initial {
		s.push()
	}
	pushes := 25 + rng.IntN(50) // of a hundred calls: from a deque that is empty most of the time to one that grows
	owner := map[history.Kind]int{history.Push: pushes, history.Pop: 90 - pushes, history.Steal: 4, history.IsEmpty: 3, history.Len: 3}
	thief := map[history.Kind]int{history.Steal: 80, history.IsEmpty: 10, history.Len: 10}
	for thread := range threads {
		weights, n := thief, 3+rng.IntN(3+6/(threads-1))
		if thread == history.Owner {
			weights, n = owner, 6+rng.IntN(7)
		}
		s.steps = append(s.steps, history.Steps(rng, n, weights))
		s.ops = append(s.ops, make([]history.Op, 0, n+len(s.items)))
	}
	return s
}

// push pushes the next item and returns its number. Owner only.
func (s *scene) push() int {
	s.pushed++
	it := &s.items[s.pushed]
	it.number = s.pushed
	s.d.Push(it)
	return s.pushed
}

func (s *scene) Play(thread int) {
	for _, step := range s.steps[thread] {
		history.Pause(step.Dice)
		s.call(thread, step.Kind)
	}
}

func (s *scene) Judge() (*history.History, error) {
	for s.call(history.Owner, history.Pop) != nil { // what is left
	}
	h := history.Of(s.initial, s.ops)
	return h, h.CheckDeque()
}

// call does one call and records it.
func (s *scene) call(thread int, kind history.Kind) (it *item) {
	op := history.Op{Thread: thread, Kind: kind}
	var (
		outcome deque.Outcome
		size    int
		bottom  uint64
	)
	if thread == history.Owner { // may look at what is the owner's
		size, bottom = s.d.Cap(), s.d.Bottom()
	}
	op.Call = s.clock.Now()
	switch kind {
	case history.Push:
		op.Item = s.push()
	case history.Pop:
		it = s.d.Pop()
	case history.Steal:
		it, outcome = s.d.Steal()
	case history.IsEmpty:
		op.Empty = s.d.IsEmpty()
	case history.Len:
		op.Len = s.d.Len()
	}
	op.Return = s.clock.Now()
	if it != nil {
		op.Item = it.number
		it.taken++
	}
	if kind == history.Steal && (it != nil) != (outcome == deque.Stolen) {
		op.Item = history.Foreign
	}
	op.Lost = outcome == deque.Lost
	if thread == history.Owner {
		op.Grew = s.d.Cap() != size
		op.AtTop = kind == history.Pop && it != nil && s.d.Bottom() == bottom
	}
	s.ops[thread] = append(s.ops[thread], op)
	return it
}

// TestLinearizable: whatever the owner and up to three thieves were told, a list that does one call after the other would
// have told them, in an order that contradicts nobody's experience. Package history says what that means for each call.
func TestLinearizable(t *testing.T) {
	history.Linearizable(t, 10000, "histories of a deque linearizable", []int{2, 3, 4}, newScene)
}
