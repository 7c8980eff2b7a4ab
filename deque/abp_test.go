package deque_test

import (
	"testing"

	"github.com/magpie-go/magpie/deque"
	"github.com/stretchr/testify/require"
)

// The slots below the top are not used until the owner finds the deque empty.
func TestABPFull(t *testing.T) {
	d := deque.NewABP[int](4)
	for i := range 4 {
		require.NotEqual(t, deque.Refused, d.Push(&i))
	}
	require.Equal(t, deque.Refused, d.Push(new(int)))
	require.Equal(t, 4, d.Len())
	for want := range 3 {
		p, outcome := d.Steal()
		require.Equal(t, deque.Stolen, outcome)
		require.Equal(t, want, *p)
		require.Equal(t, deque.Refused, d.Push(new(int)), "%d slots are free, and none at the bottom", want+1)
	}
	require.Equal(t, 3, *pop(d))
	require.Nil(t, pop(d))
	for i := range 4 {
		require.NotEqual(t, deque.Refused, d.Push(&i), "empty, and so from the beginning")
	}
	require.Equal(t, deque.Refused, d.Push(new(int)))
	for range 4 {
		d.Steal()
	}
	require.Equal(t, deque.Refused, d.Push(new(int)), "the owner does not know yet that it is empty")
	require.Nil(t, pop(d))
	require.NotEqual(t, deque.Refused, d.Push(new(int)))
}

// The owner comes to the slot of a thief that has not yet read the item that it claimed.
func TestABPSlowThief(t *testing.T) {
	d := deque.NewABP[int](4)
	d.Push(new(7))
	rest := d.Claim()
	require.NotNil(t, rest)
	require.Nil(t, pop(d))
	require.Equal(t, deque.Refused, d.Push(new(8)), "the owner must not wait for the thief, nor overwrite its item")
	require.Zero(t, d.Len())
	require.Equal(t, 7, *rest())
	require.NotEqual(t, deque.Refused, d.Push(new(8)))
	require.Equal(t, 8, *pop(d))
}

func TestABPCapacity(t *testing.T) {
	for _, test := range []struct{ capacity, fit int }{{-1, 1}, {0, 1}, {1, 1}, {5, 5}, {1000, 1000}} {
		d, n := deque.NewABP[int](test.capacity), 0
		for d.Push(new(int)) != deque.Refused {
			n++
		}
		require.Equal(t, test.fit, n)
	}
}
