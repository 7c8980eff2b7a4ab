package spin

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// spins returns how many of the next waits begin with a long spin, all in vain or none.
func spins(s *Spins, waits int, vain bool) (n int) {
	for range waits {
		spin := s.Next()
		if spin == long {
			n++
		}
		s.Note(spin, vain)
	}
	return n
}

// TestSpins: spins in vain become seldom, but do not cease, and the first that is not in vain brings the others back.
func TestSpins(t *testing.T) {
	for range 3 {
		var s Spins
		require.Equal(t, 1000, spins(&s, 1000, false))
		require.Equal(t, few+1, spins(&s, few+2, true), "the first few change nothing")
		_ = spins(&s, 1000, true)
		for range 10 {
			require.Equal(t, 1, spins(&s, 1<<(most-few), true))
		}
		for s.Next() != long {
			require.Less(t, s.left.Load(), uint32(1<<(most-few)))
		}
		s.Note(long, false)
		require.Equal(t, 1000, spins(&s, 1000, false))
	}
}

// TestSpinsNowAndThenInVain: a spin in vain among others costs no wait its spin.
func TestSpinsNowAndThenInVain(t *testing.T) {
	var s Spins
	for range 1000 {
		require.Equal(t, few, spins(&s, few, true))
		require.Equal(t, 1, spins(&s, 1, false))
	}
}

// TestBriefSpinTellsNothing: a wait that goes without a long spin says nothing about one.
func TestBriefSpinTellsNothing(t *testing.T) {
	var s Spins
	_ = spins(&s, few+1, true)
	require.Equal(t, Brief, s.Next())
	s.Note(Brief, false)
	s.Note(Brief, true)
	require.Equal(t, uint32(few+1), s.vain.Load())
}
