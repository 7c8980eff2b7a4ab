package deque_test

import (
	"testing"

	"github.com/magpie-go/magpie/deque"
	"github.com/stretchr/testify/require"
)

// TestADWS: a thief that has asked gets the oldest item, the owner pops the newest, and takes back an item that no
// thief has fetched.
func TestADWS(t *testing.T) {
	d := deque.NewADWS[int](0)
	nothing := func() {
		t.Helper()
		p, outcome := d.Steal()
		require.Nil(t, p)
		require.Equal(t, deque.NotReady, outcome)
	}
	all := numbers(4)
	nothing()
	nothing()
	require.Equal(t, deque.Nothing, d.Poll())
	require.Nil(t, pop(d))
	require.Equal(t, deque.Shown, d.Push(all[0]))
	require.Equal(t, deque.Nothing, d.Push(all[1]))
	require.Equal(t, deque.Nothing, d.Push(all[2]), "nobody has asked again")
	require.Equal(t, deque.Nothing, d.Poll())
	p, outcome := d.Steal()
	require.Equal(t, deque.Stolen, outcome)
	require.Same(t, all[0], p)
	nothing()
	require.Equal(t, deque.Shown, d.Poll())
	require.Same(t, all[2], pop(d))
	require.Same(t, all[1], pop(d), "from the mailbox")
	require.Nil(t, pop(d))
	nothing()
	d.Push(all[3])
	require.Same(t, all[3], pop(d))
}

func TestADWSKeep(t *testing.T) {
	d := deque.NewADWS[int](1)
	all := numbers(2)
	d.Steal()
	require.Equal(t, deque.Nothing, d.Push(all[0]))
	require.Equal(t, deque.Shown, d.Push(all[1]))
	p, _ := d.Steal()
	require.Same(t, all[0], p)
}

// TestADWSWithoutSize: items of size zero may all have one address, but not that of ask.
func TestADWSWithoutSize(t *testing.T) {
	d := deque.NewADWS[struct{}](0)
	for range 3 {
		d.Steal()
		d.Push(new(struct{}{}))
		p, outcome := d.Steal()
		require.Equal(t, deque.Stolen, outcome)
		require.NotNil(t, p)
	}
}

// TestADWSKeepsItsSize: the deque does not grow if thieves take all that the owner pushes.
func TestADWSKeepsItsSize(t *testing.T) {
	d, p := deque.NewADWS[int](0), new(int)
	for range 10 {
		d.Push(p)
	}
	require.Zero(t, testing.AllocsPerRun(1000, func() {
		d.Push(p)
		d.Steal()
		d.Poll()
		d.Steal()
	}))
}

func TestADWSRetention(t *testing.T) {
	d := deque.NewADWS[heavy](0)
	requireNothingRetained(t, d, func() {
		d.Steal()
		d.Poll()
	})
}

// TestADWSStress: every pushed item comes out exactly once, and Pop finds nothing only when thieves have the rest.
func TestADWSStress(t *testing.T) {
	stressMailbox(t, func(keep int) inspected[item] { return deque.NewADWS[item](keep) }, (*delegation).exercised)
}
