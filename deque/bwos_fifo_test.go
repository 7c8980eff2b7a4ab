package deque_test

import (
	"testing"

	"github.com/magpie-go/magpie/deque"
	"github.com/stretchr/testify/require"
)

// Thieves see the items between the block that the owner takes from and the block that it fills.
func TestBWoSFIFOUnseen(t *testing.T) {
	d := deque.NewBWoSFIFO[int](16, 4)
	for i := range 10 {
		d.Push(&i)
	}
	require.Equal(t, 0, *pop(d))
	p, _ := d.Steal()
	require.Equal(t, 4, *p)
	for want := 1; want <= 3; want++ {
		require.Equal(t, want, *pop(d))
	}
	p, _ = d.Steal()
	require.Equal(t, 5, *p)
	for want := 6; want <= 9; want++ {
		require.Equal(t, want, *pop(d))
		require.False(t, d.Ask())
		_, outcome := d.Steal()
		require.Equal(t, deque.Empty, outcome)
	}
	require.Nil(t, pop(d))
}

// The owner comes round to a block where a thief has not yet read the item that it claimed.
func TestBWoSFIFOSlowThief(t *testing.T) {
	d := deque.NewBWoSFIFO[int](6, 2)
	for i := range 8 { // in four blocks
		require.NotEqual(t, deque.Refused, d.Push(&i))
	}
	slow := d.Claim()
	for _, want := range []int{0, 1, 3, 4, 5, 6} {
		require.Equal(t, want, *pop(d))
	}
	require.NotEqual(t, deque.Refused, d.Push(new(8)))
	require.NotEqual(t, deque.Refused, d.Push(new(9)))
	require.Equal(t, deque.Refused, d.Push(new(10)), "the owner must not wait for the thief, nor overwrite its item")
	require.Equal(t, 2, *slow())
	require.NotEqual(t, deque.Refused, d.Push(new(10)))
	for want := 7; want <= 10; want++ {
		require.Equal(t, want, *pop(d))
	}
	require.Nil(t, pop(d))
}
