package notifier_test

import (
	"runtime"
	"sync"
	"testing"

	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/magpie-go/magpie/internal/xatomic"
	"github.com/magpie-go/magpie/notifier"
	"github.com/stretchr/testify/require"
)

// Borrow takes the waiter on top of the stack, and Return puts it back there, with signals and pre-waiters as they
// were.
func TestBorrow(t *testing.T) {
	n := notifier.New(4)
	require.Equal(t, -1, n.Borrow(4))
	for w := range 3 {
		n.Prepare(w)
		require.True(t, n.CommitAwake(w))
	}
	n.Prepare(3)
	require.Equal(t, 1, n.Notify(1)) // a signal
	require.Equal(t, -1, n.Borrow(2), "the top is not below the limit")
	require.Equal(t, 2, n.Borrow(3))
	require.Equal(t, 1, n.Borrow(2))
	require.Equal(t, notifier.Fields{Pre: 1, Signals: 1, Stack: []int{0}}, n.Fields())
	before := n.String()
	n.Return(2)
	require.Equal(t, notifier.Fields{Pre: 1, Signals: 1, Stack: []int{2, 0}}, n.Fields())
	first := n.String()
	require.Equal(t, 2, n.Borrow(4))
	require.Equal(t, before, n.String())
	n.Return(2)
	require.NotEqual(t, first, n.String(), "two returns have the same epoch")
	n.Return(1)
	require.Equal(t, notifier.Fields{Pre: 1, Signals: 1, Stack: []int{1, 2, 0}}, n.Fields())
	require.NoError(t, n.Check())
	require.False(t, n.CommitAwake(3))
	require.Equal(t, 3, n.NotifyAll())
	for w := range 3 {
		n.Rise(w)
	}
	require.Equal(t, notifier.Fields{}, n.Fields())
}

// Recall takes back a wake-up, whether the waiter sleeps or has yet to. The waiter is woken again only after Return.
func TestRecall(t *testing.T) {
	n := notifier.New(3)
	require.Equal(t, -1, n.Recall(3))
	for w := range 2 {
		n.Prepare(w)
		require.True(t, n.CommitAwake(w))
	}
	require.Equal(t, -1, n.Recall(3), "nobody was notified")
	require.Equal(t, 1, n.Notify(1))
	require.Equal(t, -1, n.Recall(1), "waiter 1 is not below the limit")
	require.Equal(t, 1, n.Recall(9))
	require.Equal(t, -1, n.Recall(3), "it was taken back")
	require.Equal(t, notifier.Fields{Stack: []int{0}}, n.Fields())
	n.Return(1)
	require.Equal(t, notifier.Fields{Stack: []int{1, 0}}, n.Fields())
	require.Equal(t, 2, n.NotifyAll())
	require.Equal(t, 0, n.Recall(3))
	n.Rise(1)
	n.Return(0)
	require.Equal(t, 1, n.Notify(1))
	n.Rise(0)
	require.Equal(t, notifier.Fields{}, n.Fields())
}

// A thread passes a token to a waiter round after round, and takes its wake-up back at random moments. The waiter gets
// each token.
func TestRecallStress(t *testing.T) {
	rounds := testkit.Scale(20_000)
	n := notifier.New(1)
	var tokens xatomic.Int64
	testkit.Within(t, testkit.Patience, func() {
		var wg sync.WaitGroup
		wg.Go(func() {
			for range rounds {
				for tokens.Load() == 0 {
					n.Prepare(0)
					if tokens.Load() != 0 {
						n.Cancel(0)
						break
					}
					n.Commit(0)
				}
				tokens.Add(-1)
			}
		})
		recalled := 0
		for range rounds {
			tokens.Add(1)
			n.Notify(1)
			for spins := 1; tokens.Load() != 0; spins++ {
				if spins%128 == 0 {
					runtime.Gosched() // the waiter may need this P
				}
				if w := n.Recall(1); w >= 0 {
					recalled++
					n.Return(w)
					n.Notify(1)
				}
			}
		}
		wg.Wait()
		t.Logf("%d of %d wake-ups were taken back", recalled, rounds)
	})
}
