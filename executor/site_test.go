package executor

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// What begins before the first of a burst has ended is treated as that one, and the burst counts once: bursts of an even
// number are tried both ways too.
func TestSiteBursts(t *testing.T) {
	for n := 1; n <= 4; n++ {
		var s site[future]
		var tried [2]int
		for range firstTrials {
			quiet := s.next()
			for range n - 1 {
				require.Equal(t, quiet, s.next())
			}
			for range n {
				s.note(tempoUnit*100, quiet)
			}
			if quiet {
				tried[1]++
			} else {
				tried[0]++
			}
		}
		require.Equal(t, [2]int{firstTrials / 2, firstTrials / 2}, tried, "bursts of %d", n)
		s.miss()
		louds := 0
		for ; !s.next(); louds++ {
			for range n - 1 {
				require.False(t, s.next())
			}
			for range n {
				s.note(tempoUnit*200, false)
			}
		}
		require.InDelta(t, loudTurns<<1, louds, 2)
	}
}

// After a miss nothing is withheld for a while, which doubles if another miss comes soon.
func TestSiteMisses(t *testing.T) {
	var s site[future]
	untilQuiet := func() (loud int) {
		for !s.next() {
			s.note(tempoUnit*200, false)
			loud++
		}
		s.note(tempoUnit*100, true)
		return loud
	}
	untilQuiet()
	var louds []int
	for range maxMisses + 1 {
		s.miss()
		louds = append(louds, untilQuiet())
	}
	for i, loud := range louds {
		require.InDelta(t, loudTurns<<min(i+1, maxMisses), loud, 2)
	}
	for range loudTurns + 1 {
		untilQuiet()
	}
	s.miss()
	require.InDelta(t, loudTurns<<1, untilQuiet(), 2, "the last miss was long ago")
}

// A site withholds each thing once, and has room for one.
func TestSiteRoom(t *testing.T) {
	var s site[future]
	var all [2]future
	require.True(t, s.withhold(&all[0]))
	require.False(t, s.withhold(&all[1]))
	require.False(t, s.take(&all[1]))
	require.True(t, s.take(&all[0]))
	require.False(t, s.take(&all[0]))
	require.True(t, s.withhold(&all[1]))
}
