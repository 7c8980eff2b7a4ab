package notifier_test

import (
	"testing"

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
