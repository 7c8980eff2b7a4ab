package xatomic_test

import (
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"

	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/magpie-go/magpie/internal/xatomic"
	"github.com/stretchr/testify/require"
)

func yield() { runtime.Gosched() }

func TestSpan(t *testing.T) {
	var s xatomic.Span
	require.True(t, s.IsEmpty(), "the zero value")
	s.Set(5, 9)
	require.False(t, s.IsEmpty())
	i, ok := s.Claim()
	require.True(t, ok)
	require.Equal(t, uint32(5), i)
	i, ok = s.ClaimAlone()
	require.True(t, ok)
	require.Equal(t, uint32(6), i)
	lo, hi, ok := s.Halve()
	require.Equal(t, []uint32{8, 9}, []uint32{lo, hi})
	require.True(t, ok)
	lo, hi, ok = s.Halve()
	require.Equal(t, []uint32{7, 8}, []uint32{lo, hi}, "the last index goes as a whole")
	require.True(t, ok)
	require.True(t, s.IsEmpty())
	for range 3 {
		_, ok = s.Claim()
		require.False(t, ok)
		_, ok = s.ClaimAlone()
		require.False(t, ok)
		_, _, ok = s.Halve()
		require.False(t, ok, "past the limit is not a span of four billion")
		require.True(t, s.IsEmpty())
	}
}

func TestSpanHalvesLargerPart(t *testing.T) {
	for n := uint32(1); n < 50; n++ {
		var s xatomic.Span
		s.Set(10, 10+n)
		lo, hi, ok := s.Halve()
		require.True(t, ok)
		require.Equal(t, (n+1)/2, hi-lo)
		for want := uint32(10); want < lo; want++ {
			i, ok := s.Claim()
			require.True(t, ok)
			require.Equal(t, want, i)
		}
		require.True(t, s.IsEmpty())
	}
}

// Limits of 1<<31 use the top bit of the word's upper half; the lower half must not carry into it.
func TestSpanAtItsLimit(t *testing.T) {
	const limit = 1 << 31
	var s xatomic.Span
	s.Set(limit-2, limit)
	for i := uint32(limit - 2); i < limit; i++ {
		got, ok := s.Claim()
		require.True(t, ok)
		require.Equal(t, i, got)
	}
	_, ok := s.Claim()
	require.False(t, ok)
	require.True(t, s.IsEmpty())
	s.Set(0, limit)
	lo, hi, ok := s.Halve()
	require.True(t, ok)
	require.Equal(t, []uint32{limit / 2, limit}, []uint32{lo, hi})
}

// One thread claims from the front while others take halves. Every index goes to exactly one of them.
func TestSpanStress(t *testing.T) {
	rng := rand.New(rand.NewPCG(testkit.Seed(t), 0))
	const thieves = 3
	halved := 0
	round := 0
	play := func() {
		n := uint32(1 + rng.IntN(testkit.Scale(20000)))
		taken := make([]int32, n) // plain: the race detector sees an index that two threads have
		var s xatomic.Span
		s.Set(0, n)
		var wg sync.WaitGroup
		successes := make([]int, thieves)
		testkit.Within(t, testkit.Patience, func() {
			wg.Go(func() {
				for {
					i, ok := s.Claim()
					if !ok {
						return
					}
					taken[i]++
				}
			})
			for id := range thieves {
				wg.Go(func() {
					for !s.IsEmpty() {
						lo, hi, ok := s.Halve()
						if !ok {
							return
						}
						successes[id]++
						for i := lo; i < hi; i++ {
							taken[i]++
						}
					}
				})
			}
			wg.Wait()
		})
		for i, c := range taken {
			require.Equal(t, int32(1), c, "round %d, index %d of %d", round, i, n)
		}
		for _, c := range successes {
			halved += c
		}
		round++
	}
	for range 20 {
		play()
	}
	testkit.Fits(t, func() (wrong string) { // on a busy machine the owner may be done before the others begin
		if play(); halved == 0 {
			wrong = "no thread ever halved the span"
		}
		return wrong
	})
}
