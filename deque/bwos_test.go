package deque_test

import (
	"testing"

	"github.com/magpie-go/magpie/deque"
	"github.com/stretchr/testify/require"
)

func TestBWoSBlocks(t *testing.T) {
	for _, test := range []struct{ capacity, size, blocks, cells int }{
		{64, 0, 8, 8}, {128, 0, 16, 8}, {256, 0, 16, 16}, {1024, 0, 32, 32}, {8192, 0, 128, 64}, // PadWS's rule
		{0, 0, 2, 1}, {1, 0, 2, 1}, {3, 0, 2, 2}, {100, 0, 16, 8},
		{64, 1, 64, 1}, {64, 7, 16, 7}, {64, 64, 2, 64}, {64, 1000, 2, 1000}, {1 << 16, 1 << 20, 2, 1 << 15},
	} {
		d := deque.NewBWoS[int](test.capacity, test.size)
		blocks, cells := d.Blocks()
		require.Equal(t, [2]int{test.blocks, test.cells}, [2]int{blocks, cells}, "capacity %d, size %d",
			test.capacity, test.size)
		n := 0
		for d.Push(new(int)) != deque.Refused {
			n++
		}
		require.Equal(t, blocks*cells, n)
		require.GreaterOrEqual(t, n, test.capacity)
	}
}

// Thieves see no item of the owner's block, and all other items.
func TestBWoSUnseen(t *testing.T) {
	d := deque.NewBWoS[int](16, 4)
	for i := range 8 {
		d.Push(&i)
	}
	for want := range 4 {
		p, outcome := d.Steal()
		require.Equal(t, deque.Stolen, outcome)
		require.Equal(t, want, *p)
	}
	_, outcome := d.Steal()
	require.Equal(t, deque.Empty, outcome)
	require.False(t, d.Ask())
	d.Push(new(8))
	require.True(t, d.Ask(), "the owner has gone on")
	require.Equal(t, 8, *pop(d))
	require.Equal(t, 7, *pop(d), "the owner has come back")
	require.False(t, d.Ask())
	for want := 6; want >= 4; want-- {
		require.Equal(t, want, *pop(d))
	}
	require.Nil(t, pop(d))
}

// The owner takes back a block from which items have been stolen, and grants it again.
func TestBWoSHalfStolen(t *testing.T) {
	d := deque.NewBWoS[int](8, 4)
	for i := range 5 {
		d.Push(&i)
	}
	rest := d.Claim()
	require.Equal(t, 4, *pop(d))
	require.Equal(t, 3, *pop(d))
	d.Push(new(13))
	d.Push(new(14))
	for want := 1; want <= 2; want++ {
		p, _ := d.Steal()
		require.Equal(t, want, *p)
	}
	require.Equal(t, 0, *rest(), "the claim outlives the owner's return")
	p, _ := d.Steal()
	require.Equal(t, 13, *p)
	require.Equal(t, 14, *pop(d))
	require.Nil(t, pop(d))
}

// The owner comes round to a block where a thief has not yet read the item that it claimed.
func TestBWoSSlowThief(t *testing.T) {
	d := deque.NewBWoS[int](4, 2)
	for i := range 4 {
		require.NotEqual(t, deque.Refused, d.Push(&i))
	}
	require.Equal(t, deque.Refused, d.Push(new(4)), "the next block has items")
	slow := d.Claim()
	p, _ := d.Steal()
	require.Equal(t, 1, *p)
	require.Equal(t, deque.Refused, d.Push(new(4)), "the owner must not wait for the thief, nor overwrite its item")
	require.Equal(t, 3, *pop(d), "a refused push changes nothing")
	require.NotEqual(t, deque.Refused, d.Push(new(3)))
	require.Equal(t, 0, *slow())
	require.NotEqual(t, deque.Refused, d.Push(new(4)))
	for want := 4; want >= 2; want-- {
		require.Equal(t, want, *pop(d))
	}
	require.Nil(t, pop(d))
}
