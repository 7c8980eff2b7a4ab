package deque_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"

	"github.com/magpie-go/magpie/deque"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/magpie-go/magpie/internal/xatomic"
	"github.com/stretchr/testify/require"
)

// An inspected queue returns the number of its places that are not nil.
type inspected[T any] interface {
	deque.Queue[T]
	Occupied() int
}

// A delegation counts the fates of the items of some rounds of a deque whose thieves ask.
type delegation struct {
	popped   int
	outcomes [4]int // of steals
}

func (s *delegation) exercised() bool {
	return s.popped > 0 && s.outcomes[deque.Stolen] > 0 && s.outcomes[deque.NotReady] > 0
}

func (s *delegation) String() string {
	return fmt.Sprintf("%d popped, %d empty, %d stolen, %d lost, %d not ready", s.popped,
		s.outcomes[deque.Empty], s.outcomes[deque.Stolen], s.outcomes[deque.Lost], s.outcomes[deque.NotReady])
}

// round lets the owner push, now and then pop, and in the end pop the rest, while thieves steal. The owner takes a
// refused item itself. Every item comes out exactly once and leaves its place.
func (s *delegation) round(t *testing.T, d inspected[item], thieves int, rng *rand.Rand) {
	t.Helper()
	all := make([]item, testkit.Scale(20000))
	var over xatomic.Bool
	var wg sync.WaitGroup
	ends := make([][4]int, thieves)
	for id := range thieves {
		wg.Go(func() {
			for !over.Load() {
				it, outcome := d.Steal()
				ends[id][outcome]++
				if it != nil {
					it.taken++
				} else if outcome != deque.Lost {
					runtime.Gosched()
				}
			}
		})
	}
	pop := func() bool {
		it, _ := d.Pop()
		if it == nil {
			return false
		}
		it.taken++
		s.popped++
		return true
	}
	for i := 0; i < len(all); {
		for burst := 1 + rng.IntN(1<<rng.IntN(10)); burst > 0 && i < len(all); burst-- {
			if d.Push(&all[i]) == deque.Refused {
				all[i].taken++
			}
			i++
		}
		switch rng.IntN(8) {
		case 0:
			runtime.Gosched()
		case 1:
			for pop() {
			}
		default:
			for pops := rng.IntN(1 << rng.IntN(10)); pops > 0 && pop(); pops-- {
			}
		}
	}
	for pop() {
	}
	over.Store(true)
	wg.Wait()
	for _, end := range ends {
		for outcome, n := range end {
			s.outcomes[outcome] += n
		}
	}
	requireOnce(t, all)
	require.Zero(t, d.Occupied())
}

// stressMailbox runs rounds of deques that keep no item or one, until exercised returns true.
func stressMailbox(t *testing.T, make func(keep int) inspected[item], exercised func(*delegation) bool) {
	crowd(t)
	for thieves := 1; thieves <= 3; thieves++ {
		t.Run(fmt.Sprintf("thieves=%d", thieves), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(testkit.Seed(t), 0))
			var s delegation
			testkit.Within(t, 2*testkit.Patience, func() {
				rounds(t, 4, func(int) { s.round(t, make(rng.IntN(2)), thieves, rng) }, func() error {
					if !exercised(&s) {
						return fmt.Errorf("%v", &s)
					}
					return nil
				})
			})
			t.Log(&s)
		})
	}
}
