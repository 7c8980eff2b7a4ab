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

// TestPadWSStress: every pushed item comes out exactly once, and Pop finds nothing only when thieves have the rest.
func TestPadWSStress(t *testing.T) {
	crowd(t)
	for thieves := 1; thieves <= 3; thieves++ {
		for _, config := range []deque.PadWSConfig{{Entries: 1, Blocks: 2}, {Entries: 4, Blocks: 3, Window: 4}, {Capacity: 256, Keep: 1}} {
			t.Run(fmt.Sprintf("thieves=%d,%dx%d", thieves, config.Blocks, config.Entries), func(t *testing.T) {
				rng := rand.New(rand.NewPCG(testkit.Seed(t), 0))
				var sum deque.PadWSStats
				popped, stolen, notReady := 0, 0, 0
				round := func(r int) {
					d := deque.NewPadWSAt[item](config, deque.PadEpochs-uint64(r%50))
					all := make([]item, testkit.Scale(20000))
					got, outcomes := stressDelegation(d.Push, d.Pop, d.Steal, all, thieves, rng)
					popped += got
					stolen += outcomes[deque.Stolen]
					notReady += outcomes[deque.NotReady]
					for i := range all {
						if all[i].taken != 1 {
							t.Fatalf("item %d of %d came out %d times", i, len(all), all[i].taken)
						}
					}
					require.Zero(t, d.Occupied())
					d.CheckRest()
					s := d.Stats()
					sum.Granted += s.Granted
					sum.Revokes += s.Revokes
					sum.Takeovers += s.Takeovers
					sum.NoRoom += s.NoRoom
				}
				testkit.Within(t, 2*testkit.Patience, func() {
					rounds(t, 4, round, func() error {
						if popped == 0 || stolen == 0 || notReady == 0 || sum.Granted == 0 || sum.Revokes == 0 || sum.Takeovers == 0 || sum.NoRoom == 0 {
							return fmt.Errorf("%d popped, %d stolen, %d not ready, %+v", popped, stolen, notReady, sum)
						}
						return nil
					})
				})
				t.Logf("%d popped, %d stolen, %d not ready, %+v", popped, stolen, notReady, sum)
			})
		}
	}
}

// stressDelegation has an owner push all, now and then pop, and in the end pop what is left, while thieves steal. It returns
// how many the owner popped, and how the thieves' steals ended. What finds no room the owner takes itself.
func stressDelegation(push func(*item) bool, popOne func() *item, steal func() (*item, deque.Outcome),
	all []item, thieves int, rng *rand.Rand) (popped int, outcomes [4]int) {
	var over xatomic.Bool
	var wg sync.WaitGroup
	ends := make([][4]int, thieves)
	for id := range thieves {
		wg.Go(func() {
			for !over.Load() {
				it, outcome := steal()
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
		it := popOne()
		if it == nil {
			return false
		}
		it.taken++
		popped++
		return true
	}
	for i := 0; i < len(all); {
		for burst := 1 + rng.IntN(1<<rng.IntN(10)); burst > 0 && i < len(all); burst-- {
			if !push(&all[i]) {
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
			outcomes[outcome] += n
		}
	}
	return popped, outcomes
}
