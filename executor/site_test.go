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
		require.InDelta(t, loudDecisions<<1, louds, 2)
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
		require.InDelta(t, loudDecisions<<min(i+1, maxMisses), loud, 2)
	}
	for range loudDecisions + 1 {
		untilQuiet()
	}
	s.miss()
	require.InDelta(t, loudDecisions<<1, untilQuiet(), 2, "the last miss was long ago")
}

// Of the times of a burst the longest counts, in whatever order they come.
func TestSiteLongest(t *testing.T) {
	var s site[future]
	burst := func(times ...int64) (quiet bool) {
		quiet = s.next()
		for _, x := range times {
			s.note(tempoUnit*x, quiet)
		}
		return quiet
	}
	require.False(t, burst(100, 700, 300))
	for !burst(50, 200, 60) {
	}
	s.next()
	quiet, _, _ := tempo{&s.memo}.load()
	require.EqualValues(t, 200, quiet)

	s = site[future]{}
	burst(100, 700, 300)
	s.next()
	_, loud, _ := tempo{&s.memo}.load()
	require.EqualValues(t, 700, loud)
}

// A burst of which several pieces come late has missed once.
func TestSiteMissesOnce(t *testing.T) {
	var s site[future]
	for !s.next() {
		s.note(tempoUnit*200, false)
	}
	for range maxMisses {
		s.miss()
	}
	require.EqualValues(t, loudDecisions<<1, s.loud.Load())
}

// A site withholds each thing once, as long as there is room.
func TestSiteRoom(t *testing.T) {
	var s site[future]
	var all [siteRoom + 1]future
	for i := range siteRoom {
		require.True(t, s.withhold(&all[i]))
	}
	require.False(t, s.withhold(&all[siteRoom]))
	require.False(t, s.take(&all[siteRoom]))
	for i := range siteRoom {
		require.True(t, s.take(&all[i]))
		require.False(t, s.take(&all[i]))
		require.True(t, s.withhold(&all[siteRoom]))
		require.True(t, s.take(&all[siteRoom]))
	}
}
