package executor

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
)

// An item that waits again and again has no poll for each wait. There is one before the item after it.
func TestPollsOfWaits(t *testing.T) {
	for nested := range uint64(3) {
		for before := range uint64(pollInterval) {
			c := counts{items: before + 1}
			const waits = 10 * pollInterval
			polls := uint64(0)
			for range waits {
				since := c.items
				c.passPoll()
				for range nested {
					if c.items++; c.items%pollInterval == 0 {
						polls++
					}
				}
				c.pollAgain(since)
			}
			require.LessOrEqual(t, polls, uint64(1), "%d nested items a wait, %d items before", nested, before)
			require.Equal(t, before+1+waits*nested, c.items-c.overhead)
			c.items++
			if nested > 0 {
				require.Zero(t, c.items%pollInterval, "%d nested items a wait, %d items before", nested, before)
			}
		}
	}
}

// What a wait publishes has the item that waits, as what was published before has: counters never decrease.
func TestWaitsPublishNoLess(t *testing.T) {
	ex, err := New(Config{Workers: 1, Callers: IdleCallers})
	require.NoError(t, err)
	_, err = Call(context.Background(), ex, func(*Scope, int) int {
		w := workerHere()
		for range 3 * pollInterval {
			w.counts.items++
			w.publishCounts()
			before := w.seen.tasks.Load()
			w.seen.asked.Store(1)
			w.exitNested(w.enterNested(w.waits.run, w.waits.mark, w.waits.only))
			if now := w.seen.tasks.Load(); now < before {
				t.Errorf("%d tasks after %d", now, before)
			}
		}
		return 0
	}, 0)
	require.NoError(t, err)
	require.NoError(t, ex.Close())
}
