package notifier_test

import (
	"testing"

	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/magpie-go/magpie/internal/xatomic"
	"github.com/magpie-go/magpie/notifier"
	"github.com/stretchr/testify/require"
)

// The package's promise: a waiter that prepared before a NotifyAll does not sleep, whatever waiters do that prepare
// later. Their conditions need not be the same.
func TestNotifyAllIsForThoseWhoHadPrepared(t *testing.T) {
	n := notifier.New(2)
	within(t, n, func() {
		n.Prepare(0)
		require.Equal(t, 1, n.NotifyAll())
		n.Prepare(1) // after it: owed nothing, but may take waiter 0's signal
		n.CommitAwake(1)
		n.Commit(0)
	})
}

// Every waiter waits for the next turn, and the next turn begins when all have seen this one. If a waiter is not
// notified, all hang.
func TestTurns(t *testing.T) {
	const waiters = 4
	turns := testkit.Scale(2000)
	n := notifier.New(waiters)
	var turn, seen xatomic.Int64
	within(t, n, func() {
		var threads group
		for w := range waiters {
			threads.start(func() {
				for mine := int64(0); mine < int64(turns); {
					n.Prepare(w)
					if turn.Load() > mine {
						n.Cancel(w)
					} else {
						n.Commit(w)
						if turn.Load() == mine {
							continue // woken by a notification for another
						}
					}
					mine++
					seen.Add(1)
				}
			})
		}
		until(n.HasSleeper) // on a busy machine each later turn may have begun before a waiter looks
		for i := range turns {
			turn.Add(1)
			n.NotifyAll()
			until(func() bool { return seen.Load() == int64(waiters*(i+1)) })
		}
		threads.wait()
	})
	var slept uint64
	for w := range waiters {
		slept += n.Sleeps(w, 0)
	}
	require.Positive(t, slept, "nobody ever slept")
	require.Equal(t, notifier.Fields{}, n.Fields())
}

// A waiter that prepared after the call of NotifyAll is not woken by it, also while waiters that had prepared before
// repeat the call. Otherwise each would wake the others once more, and one call would echo among idle waiters for as
// long as two of them overlap.
func TestNotifyAllDoesNotEcho(t *testing.T) {
	n := notifier.New(3)
	within(t, n, func() {
		n.Prepare(0)
		require.Equal(t, 1, n.NotifyAll())
		n.Prepare(1)
		require.False(t, n.CommitAwake(1), "takes the signal of waiter 0")

		n.Prepare(2)
		require.True(t, n.CommitAwake(0), "finds no signal, but the call counted")
		require.NotContains(t, n.Fields().Stack, 0)

		// The signal that waiter 0 left for waiter 2 goes to another waiter.
		if n.Fields().Signals > 0 {
			n.Prepare(1)
			require.False(t, n.CommitAwake(1))
		}
		require.True(t, n.CommitAwake(2))
		require.Equal(t, []int{2}, n.Fields().Stack, "nobody called NotifyAll since waiter 2 prepared")
		require.Equal(t, 1, n.Notify(1))
		n.Rise(2)
	})
}
