package xatomic_test

import (
	"sync"
	"testing"

	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/magpie-go/magpie/internal/xatomic"
	"github.com/stretchr/testify/require"
)

func TestSlot(t *testing.T) {
	var s xatomic.Slot[int]
	a, b := new(1), new(2)
	require.True(t, s.Free(), "the zero value")
	require.Nil(t, s.Peek())

	s.Put(a)
	require.False(t, s.Free())
	require.Same(t, a, s.Peek())
	require.False(t, s.Free(), "Peek leaves it")
	require.Same(t, a, s.Take())
	require.True(t, s.Free())
	require.Nil(t, s.Take(), "an empty slot has nothing")

	s.Put(b)
	require.Same(t, b, s.Yield())
	require.True(t, s.Free())
}

// The slot goes round between an owner, which publishes it by an index, and a thief, which hands it back by Yield
// alone. Item and slot are plain words in between: the race detector checks both directions.
func TestSlotHandOver(t *testing.T) {
	rounds := testkit.Scale(100000)
	var (
		s         xatomic.Slot[int]
		published xatomic.Int64
		wg        sync.WaitGroup
	)
	testkit.Within(t, testkit.Patience, func() {
		wg.Go(func() {
			for r := range rounds {
				for !s.Free() {
					yield()
				}
				s.Put(new(r))
				published.Store(int64(r + 1))
			}
		})
		wg.Go(func() {
			for r := range rounds {
				for published.Load() <= int64(r) {
					yield()
				}
				if got := s.Yield(); got == nil || *got != r {
					t.Errorf("round %d: got %v", r, got)
					return
				}
			}
		})
		wg.Wait()
	})
}
