package deque_test

import (
	"math/rand/v2"
	"testing"

	"github.com/magpie-go/magpie/deque"
	"github.com/magpie-go/magpie/internal/history"
)

// A scene is a deque and the operations that its owner and some thieves are to do.
type scene struct {
	d       subject
	initial int
	items   [32]item // item i is number i, once it was pushed
	pushed  int
	steps   [][]history.Step // of each thread
	ops     [][]history.Op   // likewise
	clock   history.Clock
}

// newScene draws the operations of the threads on d, into which it pushes initial items. The rates are for a hundred
// calls of the owner and of a thief.
func newScene(rng *rand.Rand, d subject, initial, threads int, owner, thief map[history.Kind]int) *scene {
	s := &scene{d: d}
	for range initial {
		if s.push() != 0 {
			s.initial++
		}
	}
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

// growing draws a scene with a Deque that has a few items in a ring of two to eight slots, so that growth is near. Its
// indices may be about to wrap.
func growing(rng *rand.Rand, threads int) history.Scene {
	size := 2 << rng.IntN(3)
	start := wrap - uint64(rng.IntN(12))
	if rng.IntN(2) == 0 {
		start = uint64(rng.IntN(12))
	}
	initial := rng.IntN(min(size, 4) + 1)
	pushes := 25 + rng.IntN(50) // from a deque that is empty most of the time to one that grows
	owner := map[history.Kind]int{history.Push: pushes, history.Pop: 90 - pushes, history.Steal: 4,
		history.IsEmpty: 3, history.Len: 3}
	thief := map[history.Kind]int{history.Steal: 80, history.IsEmpty: 10, history.Len: 10}
	return newScene(rng, chaseLev(deque.NewChaseLevAt[item](size, start)), initial, threads, owner, thief)
}

// push pushes the next item and returns its number, 0 if it was refused. Owner only.
func (s *scene) push() int {
	it := &s.items[s.pushed+1]
	it.number = s.pushed + 1
	if s.d.Push(it) == deque.Refused {
		return 0
	}
	s.pushed++
	return s.pushed
}

func (s *scene) Play(thread int) {
	for _, step := range s.steps[thread] {
		history.Pause(step.Dice)
		s.call(thread, step.Kind)
	}
}

func (s *scene) Judge() (*history.History, error) {
	for s.call(history.Owner, history.Pop) != nil { // the rest
	}
	h := history.Of(s.initial, s.ops)
	return h, h.CheckDeque()
}

// look calls f, if there is an f.
func look(f func() uint64) uint64 {
	if f == nil {
		return 0
	}
	return f()
}

// call does one call and records it. It records neither refused pushes nor empty results of threads that may not see
// all items.
func (s *scene) call(thread int, kind history.Kind) (it *item) {
	op := history.Op{Thread: thread, Kind: kind}
	var (
		outcome       deque.Outcome
		round, bottom uint64
	)
	if thread == history.Owner { // may read the owner's words
		round, bottom = look(s.d.round), look(s.d.bottom)
	}
	op.Call = s.clock.Now()
	switch kind {
	case history.Push:
		op.Item = s.push()
	case history.Pop:
		it = pop(s.d.Queue)
	case history.Steal:
		it, outcome = s.d.Steal()
	case history.IsEmpty:
		op.Empty = !s.d.Ask()
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
		op.Grew = look(s.d.round) != round
		op.AtTop = kind == history.Pop && it != nil && s.d.bottom != nil && s.d.bottom() == bottom
	}
	refused := kind == history.Push && op.Item == 0
	unseen := s.d.unseen > 0 && (op.Empty || kind == history.Steal && op.Item == 0 && !op.Lost)
	if !refused && !unseen {
		s.ops[thread] = append(s.ops[thread], op)
	}
	return it
}

// TestLinearizable: the results of the calls of the owner and up to three thieves are those of a list that does one
// call after the other, in an order that agrees with the real time of the calls. Package history has the rules for each
// call.
func TestLinearizable(t *testing.T) {
	history.Linearizable(t, 10000, "histories of a deque linearizable", []int{2, 3, 4}, growing)
}
