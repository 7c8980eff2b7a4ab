package deque_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/magpie-go/magpie/deque"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/magpie-go/magpie/internal/xatomic"
	"github.com/stretchr/testify/require"
)

// A stress counts the fates of the items of some rounds.
type stress struct{ popped, stolen, lost, refused int }

// round lets the owner push n items and pop some, and all in the end, while thieves steal. Every item comes out exactly
// once or is refused. Each thief gets items in the order in which they were pushed. The owner pops the newest item that
// was not stolen or, if it is first in, first out, pops in the order of its pushes.
func (s *stress) round(t *testing.T, d subject, thieves, n int, rng *rand.Rand) {
	t.Helper()
	var over xatomic.Bool
	wait := thieve(d.Queue, thieves, &over, d.receivers...)
	items := make([]item, n)
	var mine []*item // pushed and not popped: these may still be there
	pop := func() bool {
		it := pop(d)
		if it == nil {
			mine = mine[:0]
			return false
		}
		it.taken++
		s.popped++
		i := len(mine) - 1
		if d.fifo || d.unordered { // items before it, or after it, have been stolen
			i = slices.Index(mine, it)
		}
		if i < 0 || mine[i] != it {
			t.Errorf("popped item %d out of order", it.number)
			return true
		}
		if d.fifo {
			mine = mine[i+1:]
		} else {
			mine = mine[:i]
		}
		return true
	}
	for i := 0; i < n; {
		for burst := 1 + rng.IntN(1<<rng.IntN(9)); burst > 0 && i < n; burst-- {
			it := &items[i]
			it.number = i
			i++
			if d.Push(it) != deque.Refused {
				mine = append(mine, it)
			} else {
				it.taken++
				s.refused++
			}
		}
		for pops := rng.IntN(1 << rng.IntN(9)); pops > 0 && pop(); pops-- {
		}
		if rng.IntN(64) == 0 {
			runtime.Gosched()
		}
	}
	for pop() {
	}
	over.Store(true)
	got, losses := wait()
	s.lost += losses
	for id, its := range got {
		s.stolen += len(its)
		for i := 1; i < len(its); i++ {
			if !d.unordered && its[i-1].number >= its[i].number {
				t.Fatalf("thief %d stole item %d after %d", id, its[i].number, its[i-1].number)
			}
		}
	}
	requireOnce(t, items)
	require.Zero(t, d.occupied())
}

func (s *stress) String() string {
	return fmt.Sprintf("%d popped, %d stolen, %d lost, %d refused", s.popped, s.stolen, s.lost, s.refused)
}

// TestKindsStress stresses deques of every kind, large and small.
func TestKindsStress(t *testing.T) {
	crowd(t)
	for _, k := range kinds {
		for thieves := 1; thieves <= 3; thieves++ {
			t.Run(fmt.Sprintf("%s,thieves=%d", k.name, thieves), func(t *testing.T) {
				rng := rand.New(rand.NewPCG(testkit.Seed(t), 0))
				var s stress
				round := func(int) { s.round(t, k.make(2<<rng.IntN(11)), thieves, testkit.Scale(20000), rng) }
				testkit.Within(t, 2*testkit.Patience, func() {
					rounds(t, 6, round, func() error {
						switch {
						case s.popped == 0 || s.stolen == 0:
							return fmt.Errorf("%v", &s)
						case k.make(8).mayRefuse != nil && s.refused == 0:
							return fmt.Errorf("no push was refused")
						}
						return nil
					})
				})
				t.Log(&s)
			})
		}
	}
}
