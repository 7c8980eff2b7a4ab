package executor

import (
	"math/rand/v2"
	"testing"

	"github.com/magpie-go/magpie/deque"
	"github.com/magpie-go/magpie/internal/history"
)

// A scene is an injector and the calls of some threads on it. There are no roles: any thread may submit, workers put
// back what they cannot run.
type scene struct {
	q       injector
	initial int
	items   []Item // item i is number i+1, once it was pushed
	parts   [][]part
	ops     [][]history.Op // of each thread
	clock   history.Clock
	grows   bool // the ring may
}

// A part is one call of a thread, with its item if it pushes.
type part struct {
	history.Step
	item int
}

// newScene draws a scene. In every other one the ring is as the executor makes it, which no scene fills, and a lost
// steal was lost to a thief. The others have the smallest ring, mostly full, and the first to push makes it grow.
func newScene(rng *rand.Rand, threads int) history.Scene {
	s := &scene{q: newInjector()}
	slots := injectorCapacity
	if rng.IntN(2) == 0 {
		s.q.queue = deque.New[Item](1)
		slots = 0 // whatever the smallest ring has
		s.initial = 5 + rng.IntN(4)
	} else {
		s.initial = rng.IntN(4)
	}
	numbered := s.initial
	pushes := 30 + rng.IntN(50)
	for range threads {
		weights := map[history.Kind]int{history.Push: 40, history.Steal: 40, history.IsEmpty: 10, history.Len: 10}
		switch rng.IntN(3) {
		case 0: // submits
			weights = map[history.Kind]int{history.Push: pushes, history.Steal: 90 - pushes, history.IsEmpty: 5,
				history.Len: 5}
		case 1: // works
			weights = map[history.Kind]int{history.Steal: 80, history.IsEmpty: 15, history.Len: 5}
		}
		steps := history.Steps(rng, 3+rng.IntN(4+8/threads), weights)
		parts := make([]part, len(steps))
		for i, step := range steps {
			parts[i].Step = step
			if step.Kind == history.Push {
				numbered++
				parts[i].item = numbered
			}
		}
		s.parts = append(s.parts, parts)
	}
	s.items = make([]Item, numbered)
	s.grows = numbered > slots
	s.ops = make([][]history.Op, threads)
	for thread := range s.ops {
		s.ops[thread] = make([]history.Op, 0, len(s.parts[thread])+numbered+1)
	}
	for i := range s.initial {
		s.q.push(&s.items[i])
	}
	return s
}

func (s *scene) Play(thread int) {
	for _, p := range s.parts[thread] {
		history.Pause(p.Dice)
		s.call(thread, p)
	}
}

func (s *scene) Judge() (*history.History, error) {
	for s.call(0, part{Step: history.Step{Kind: history.Steal}}) != nil { // what is left
	}
	h := history.Of(s.initial, s.ops)
	return h, h.CheckQueue()
}

// call does one call and records it.
func (s *scene) call(thread int, p part) (it *Item) {
	op := history.Op{Thread: thread, Kind: p.Kind, Item: p.item, Grew: p.Kind == history.Push && s.grows}
	var outcome deque.Outcome
	op.Call = s.clock.Now()
	switch p.Kind {
	case history.Push:
		s.q.push(&s.items[p.item-1])
	case history.Steal:
		it, outcome = s.q.steal(1)
	case history.IsEmpty:
		op.Empty = s.q.isEmpty()
	case history.Len:
		op.Len = s.q.len()
	}
	op.Return = s.clock.Now()
	op.Lost = outcome == deque.Lost
	if it != nil || outcome == deque.Stolen {
		op.Item = s.number(it)
	}
	s.ops[thread] = append(s.ops[thread], op)
	return it
}

// number is that of an item.
func (s *scene) number(it *Item) int {
	for i := range s.items {
		if it == &s.items[i] {
			return i + 1
		}
	}
	return history.Foreign
}

// TestInjectorLinearizable: the results of two to four threads that push to the injector and steal from it are those of
// a queue that does one call after the other: first in, first out, and empty only when it is. Package history says what
// that means for each call.
func TestInjectorLinearizable(t *testing.T) {
	history.Linearizable(t, 10000, "histories of the injector linearizable", []int{2, 3, 4}, newScene)
}
