package deque_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/magpie-go/magpie/deque"
	"github.com/magpie-go/magpie/internal/testkit"
)

// TestPadWSStress: every pushed item comes out exactly once, and Pop finds nothing only when thieves have the rest.
func TestPadWSStress(t *testing.T) {
	crowd(t)
	for thieves := 1; thieves <= 3; thieves++ {
		for _, config := range []deque.PadWSConfig{{Entries: 1, Blocks: 2}, {Entries: 4, Blocks: 3, Window: 4},
			{Capacity: 256, Keep: 1}} {
			t.Run(fmt.Sprintf("thieves=%d,%dx%d", thieves, config.Blocks, config.Entries), func(t *testing.T) {
				rng := rand.New(rand.NewPCG(testkit.Seed(t), 0))
				var given delegation
				var sum deque.PadCounts
				round := func(r int) {
					d := deque.NewPadWSAt[item](config, deque.PadEpochs-uint64(r%50))
					given.round(t, d, thieves, rng)
					d.CheckRest()
					s := d.Counts()
					sum.Granted += s.Granted
					sum.Revokes += s.Revokes
					sum.Takeovers += s.Takeovers
					sum.NoRoom += s.NoRoom
				}
				testkit.Within(t, 2*testkit.Patience, func() {
					rounds(t, 4, round, func() error {
						if !given.exercised() || sum.Granted == 0 || sum.Revokes == 0 || sum.Takeovers == 0 ||
							sum.NoRoom == 0 {
							return fmt.Errorf("%v, %+v", &given, sum)
						}
						return nil
					})
				})
				t.Logf("%v, %+v", &given, sum)
			})
		}
	}
}
