package xatomic_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/magpie-go/magpie/internal/xatomic"
	"github.com/stretchr/testify/require"
)

func TestJoinCount(t *testing.T) {
	var c xatomic.JoinCount
	c.Arm(3)
	require.False(t, c.Last())
	require.False(t, c.Done(1))
	require.False(t, c.Last())
	require.False(t, c.DoneAlone())
	require.True(t, c.Last())
	require.True(t, c.Last(), "Last changes nothing")
	require.True(t, c.Done(1))

	c.Arm(5)
	require.False(t, c.Done(2))
	require.True(t, c.Done(3), "several counts at once")

	c.Arm(1)
	require.True(t, c.Last(), "armed again")
	require.True(t, c.DoneAlone())

	c.Arm(1<<32 - 1)
	require.False(t, c.Done(1<<32-2))
	require.True(t, c.Last())
	require.True(t, c.Done(1))
}

// The thread that sees the counter fire arms it again with a plain write. The race detector checks that it may.
func TestJoinCountFiresOnce(t *testing.T) {
	rounds := testkit.Scale(20000)
	for _, threads := range []int{2, 3, 8} {
		t.Run(fmt.Sprintf("threads=%d", threads), func(t *testing.T) {
			var (
				c         xatomic.JoinCount
				round     xatomic.Int64 // set by the thread that saw it fire, to let the others into the next round
				fired     = make([]int, rounds)
				byLast    xatomic.Int64
				effects   = make([]int, threads) // written before counting down, read by the thread that saw it fire
				waitGroup sync.WaitGroup
			)
			c.Arm(uint32(threads))
			testkit.Within(t, testkit.Patience, func() {
				for id := range threads {
					waitGroup.Go(func() {
						for r := range rounds {
							for round.Load() != int64(r) {
								yield()
							}
							effects[id]++
							// The executor's short cut: the thread with the last count need not count down.
							last := c.Last()
							if last {
								byLast.Add(1)
							}
							if last || c.Done(1) {
								fired[r]++
								for _, e := range effects {
									if e != r+1 {
										t.Errorf("round %d fired after %v", r, effects)
									}
								}
								c.Arm(uint32(threads))
								round.Add(1)
							}
						}
					})
				}
				waitGroup.Wait()
			})
			for r, n := range fired {
				require.Equal(t, 1, n, "round %d", r)
			}
			require.Positive(t, byLast.Load(), "the short cut was never taken")
		})
	}
}

// One in every n counts fires, whichever thread counts, and after each turn the counter has its first value again.
func TestJoinCountInTurn(t *testing.T) {
	for _, n := range []uint32{2, 3, 7} {
		var c xatomic.JoinCount
		c.Arm(n)
		for range 3 {
			for range n - 1 {
				require.False(t, c.DoneInTurn(n))
			}
			require.True(t, c.Last())
			require.True(t, c.DoneInTurn(n))
		}
		var fired xatomic.Int64
		const threads = 4
		turns := int(n) * testkit.Scale(5000)
		testkit.Within(t, testkit.Patience, func() {
			var all sync.WaitGroup
			for range threads {
				all.Go(func() {
					for range turns {
						if c.DoneInTurn(n) {
							fired.Add(1)
						}
					}
				})
			}
			all.Wait()
		})
		require.EqualValues(t, threads*turns/int(n), fired.Load())
		require.False(t, c.Done(n-1))
		require.True(t, c.Last(), "as before the turns")
	}
}
