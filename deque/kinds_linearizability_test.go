package deque_test

import (
	"math/rand/v2"
	"testing"

	"github.com/magpie-go/magpie/internal/history"
)

// drawKind draws scenes with a kind of deque for two to eight items.
func drawKind(k kind) func(rng *rand.Rand, threads int) history.Scene {
	return func(rng *rand.Rand, threads int) history.Scene {
		d := k.make(2 << rng.IntN(3))
		pushes := 30 + rng.IntN(40)
		owner := map[history.Kind]int{history.Push: pushes, history.Pop: 93 - pushes, history.Steal: 4,
			history.IsEmpty: 3}
		thief := map[history.Kind]int{history.Steal: 85, history.IsEmpty: 15}
		if d.unseen == 0 {
			thief = map[history.Kind]int{history.Steal: 80, history.IsEmpty: 10, history.Len: 10}
		}
		return newScene(rng, d, rng.IntN(4), threads, owner, thief)
	}
}

// TestKindsLinearizable is TestLinearizable for the other kinds that take items from the ends of a list.
func TestKindsLinearizable(t *testing.T) {
	for _, k := range kinds {
		if d := k.make(2); k.name == "chaselev" || d.fifo || d.unordered || d.receivers != nil {
			continue
		}
		t.Run(k.name, func(t *testing.T) {
			history.Linearizable(t, 2000, "histories of a deque linearizable", []int{2, 3, 4}, drawKind(k))
		})
	}
}
