package history

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestCrew: every thread plays every round, after all have finished the round before.
func TestCrew(t *testing.T) {
	procs := runtime.GOMAXPROCS(0)
	t.Run("crew", func(t *testing.T) {
		const threads, rounds = 3, 100
		crew := NewCrew(t, threads)
		var clock Clock
		for range 3 {
			began := make([][threads]int64, rounds)
			ended := make([][threads]int64, rounds)
			played := [threads]int{}
			crew.Play(rounds, func(thread, round int) {
				began[round][thread] = clock.Now()
				for other := range threads {
					if round > 0 && ended[round-1][other] == 0 {
						t.Errorf("thread %d plays round %d while thread %d is in the one before", thread, round, other)
					}
				}
				Pause(uint32(clock.Now()))
				played[thread]++
				ended[round][thread] = clock.Now()
			})
			require.Equal(t, [threads]int{rounds, rounds, rounds}, played)
			for r := range rounds {
				for thread := range threads {
					require.Less(t, began[r][thread], ended[r][thread])
				}
			}
		}
	})
	require.Equal(t, procs, runtime.GOMAXPROCS(0))
}
