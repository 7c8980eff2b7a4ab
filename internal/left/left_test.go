package left_test

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/magpie-go/magpie/internal/left"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/require"
)

func TestCount(t *testing.T) {
	var c left.Count
	require.Zero(t, c.Load())
	for range 2 { // it begins anew
		c.Start(1)
		c.In(3)
		require.EqualValues(t, 4, c.Load())
		require.False(t, c.Out(1))
		require.False(t, c.Out(2))
		require.True(t, c.Out(1))
		require.Zero(t, c.Load())
	}
}

func TestTryIn(t *testing.T) {
	var c left.Count
	require.False(t, c.TryIn(), "never begun")
	c.Start(1)
	require.True(t, c.TryIn())
	require.False(t, c.Out(1))
	require.True(t, c.Out(1))
	require.False(t, c.TryIn(), "ended")
	require.Zero(t, c.Load())
}

// TestEndIsSeenOnce: threads hold units, count others in and count several out at once. Exactly one of them sees the
// end, and with it everything that the others have written. A thread that holds no unit gets in before the end or not
// at all.
func TestEndIsSeenOnce(t *testing.T) {
	const threads = 4
	var late, missed int64
	for round := 0; round < testkit.Scale(20000) || late == 0 || missed == 0; round++ {
		var (
			c       left.Count
			ends    atomic.Int64
			written [threads + 1]int
			all     sync.WaitGroup
			in      atomic.Bool
		)
		end := func() {
			ends.Add(1)
			for i := range threads {
				if written[i] != round+1 {
					t.Errorf("round %d: the end is seen before thread %d has written", round, i)
				}
			}
			if in.Load() && written[threads] != round+1 {
				t.Errorf("round %d: the end is seen before the thread that came later has written", round)
			}
		}
		c.Start(threads)
		for i := range threads {
			all.Go(func() {
				c.In(2)
				if c.Out(1) {
					t.Error("the end is seen by a thread that holds other units")
				}
				written[i] = round + 1
				if c.Out(2) {
					end()
				}
			})
		}
		all.Go(func() {
			for range round % 8 {
				runtime.Gosched()
			}
			if !c.TryIn() {
				return
			}
			in.Store(true)
			written[threads] = round + 1
			if c.Out(1) {
				end()
			}
		})
		all.Wait()
		require.EqualValues(t, 1, ends.Load(), "round %d", round)
		require.Zero(t, c.Load())
		if in.Load() {
			late++
		} else {
			missed++
		}
	}
}
