package deque_test

import (
	"testing"

	"github.com/magpie-go/magpie/deque"
	"github.com/stretchr/testify/require"
)

// numbers returns pointers to 0 … n-1.
func numbers(n int) []*int {
	all := make([]*int, n)
	for i := range all {
		all[i] = new(i)
	}
	return all
}

func requireStolen(t *testing.T, d *deque.PadWS[int], want int) {
	t.Helper()
	p, outcome := d.Steal()
	require.Equal(t, deque.Stolen, outcome)
	require.Equal(t, want, *p)
}

func requireNothing(t *testing.T, d *deque.PadWS[int], want deque.Outcome) {
	t.Helper()
	p, outcome := d.Steal()
	require.Equal(t, want, outcome)
	require.Nil(t, p)
}

// pop pops an item.
func pop[T any](d deque.Queue[T]) *T {
	p, _ := d.Pop()
	return p
}

func TestPadWSSizes(t *testing.T) {
	for _, c := range []struct {
		config   deque.PadWSConfig
		capacity int
	}{
		{deque.PadWSConfig{}, 256},
		{deque.PadWSConfig{Capacity: 1}, 2},
		{deque.PadWSConfig{Capacity: 64}, 64},
		{deque.PadWSConfig{Capacity: 100}, 104},
		{deque.PadWSConfig{Capacity: 8192}, 8192},
		{deque.PadWSConfig{Entries: 1, Blocks: 2}, 2},
		{deque.PadWSConfig{Entries: 5, Blocks: 3}, 15},
		{deque.PadWSConfig{Entries: 1 << 15, Blocks: 2}, 1 << 16},
	} {
		d := deque.NewPadWS[int](c.config)
		require.Equal(t, c.capacity, d.Capacity(), "%+v", c.config)
		p := new(int)
		for range c.capacity {
			require.NotEqual(t, deque.Refused, d.Push(p))
		}
		require.Equal(t, deque.Refused, d.Push(p), "%+v", c.config)
		for range c.capacity {
			require.Same(t, p, pop(d))
		}
		require.Nil(t, pop(d))
	}
	for _, c := range []deque.PadWSConfig{
		{Capacity: -1}, {Entries: -1}, {Entries: 1<<15 + 1}, {Blocks: 1}, {Blocks: -1}, {Window: -1}, {Keep: -1},
	} {
		require.Panics(t, func() { deque.NewPadWS[int](c) }, "%+v", c)
	}
}

// TestPadWSRequests: a thief that finds nothing asks once. The owner's next operation grants an item and returns Shown.
// The steal after that takes the item and asks for the next.
func TestPadWSRequests(t *testing.T) {
	d := deque.NewPadWS[int](deque.PadWSConfig{Entries: 8, Blocks: 2, Window: 2})
	all := numbers(8)
	for range 3 {
		requireNothing(t, d, deque.NotReady)
	}
	require.Equal(t, 1, d.Asked(), "one request, however many ask")
	require.Equal(t, deque.Nothing, d.Poll(), "nothing to grant")
	require.Equal(t, 1, d.Asked(), "what cannot be granted stays asked for")

	require.Equal(t, deque.Shown, d.Push(all[0]), "the first item goes to the thief that has asked")
	require.Zero(t, d.Asked())
	require.Equal(t, deque.Nothing, d.Push(all[1]))
	requireStolen(t, d, 0)
	require.Equal(t, 1, d.Asked(), "for the next")
	requireNothing(t, d, deque.NotReady)
	require.Equal(t, deque.Shown, d.Poll())
	requireStolen(t, d, 1)

	require.Equal(t, deque.Shown, d.Push(all[2]))
	for _, p := range all[3:] {
		require.Equal(t, deque.Nothing, d.Push(p))
	}
	require.Equal(t, deque.PadCounts{Answers: 3, Granted: 3}, d.Counts())
	require.Equal(t, 7, *pop(d))
	d.CheckRest()
}

// TestPadWSKeep: the owner does not grant the last items.
func TestPadWSKeep(t *testing.T) {
	d := deque.NewPadWS[int](deque.PadWSConfig{Entries: 8, Blocks: 2, Keep: 2})
	all := numbers(4)
	requireNothing(t, d, deque.NotReady)
	require.Equal(t, deque.Nothing, d.Push(all[0]))
	require.Equal(t, deque.Nothing, d.Push(all[1]))
	requireNothing(t, d, deque.NotReady)
	require.Equal(t, deque.Shown, d.Push(all[2]))
	require.Equal(t, 2, d.Own())
	requireStolen(t, d, 0)
}

// TestPadWSWindow: one answer grants as many items as thieves have asked for, but at most Window.
func TestPadWSWindow(t *testing.T) {
	d := deque.NewPadWS[int](deque.PadWSConfig{Entries: 16, Blocks: 2, Window: 3})
	for _, p := range numbers(16) {
		d.Push(p)
	}
	thieves := make([]*deque.SlowPadThief[int], 5)
	requireNothing(t, d, deque.NotReady)
	require.Equal(t, deque.Shown, d.Poll())
	for i := range thieves { // each of them takes one, and asks for one when it is done
		thieves[i] = deque.NewSlowPadThief(d)
		for !thieves[i].Claimed() {
			_, _, over := thieves[i].Step()
			if over {
				d.Poll()
			}
		}
	}
	d.Poll()
	before := d.Asked()
	for _, th := range thieves {
		for over := false; !over; {
			_, _, over = th.Step()
		}
	}
	require.Equal(t, before+5, d.Asked())
	require.Equal(t, deque.Shown, d.Poll())
	require.Equal(t, before+2, d.Asked())
}

// TestPadWSRevoke: Pop takes back granted items that no thief has claimed.
func TestPadWSRevoke(t *testing.T) {
	d := deque.NewPadWS[int](deque.PadWSConfig{Entries: 4, Blocks: 2})
	all := numbers(2)
	requireNothing(t, d, deque.NotReady)
	require.Equal(t, deque.Shown, d.Push(all[0]))
	require.Zero(t, d.Own())
	require.Same(t, all[0], pop(d))
	require.EqualValues(t, 1, d.Counts().Revokes)
	requireNothing(t, d, deque.NotReady)
	require.Nil(t, pop(d))
	d.CheckRest()
}

// TestPadWSBlocks: below the owner's block thieves need not ask, until the owner comes back.
func TestPadWSBlocks(t *testing.T) {
	d := deque.NewPadWS[int](deque.PadWSConfig{Entries: 2, Blocks: 3})
	all := numbers(6)
	for i, p := range all {
		require.Equal(t, map[int]deque.Effect{2: deque.Shown, 4: deque.Shown}[i], d.Push(p), "item %d", i)
	}
	require.Equal(t, deque.Refused, d.Push(new(6)), "no room")
	require.EqualValues(t, 1, d.Counts().NoRoom)
	requireStolen(t, d, 0)
	require.Zero(t, d.Asked(), "nobody needs to be asked here")
	requireStolen(t, d, 1)
	require.Zero(t, d.Oldest(), "the last thief does not look again")
	require.NotEqual(t, deque.Refused, d.Push(new(6)), "the owner does")
	require.Equal(t, 1, d.Oldest())
	require.Equal(t, 6, *pop(d))
	for i := 5; i >= 3; i-- {
		require.Equal(t, i, *pop(d))
	}
	requireNothing(t, d, deque.NotReady)
	require.NotEqual(t, deque.Refused, d.Push(all[3]))
	requireStolen(t, d, 2)
	require.Same(t, all[3], pop(d))
	require.Nil(t, pop(d))
	require.Zero(t, d.Occupied())
	d.CheckRest()
}

// TestPadWSExhausted: when thieves have taken all items, the owner can push although its block has no place left.
func TestPadWSExhausted(t *testing.T) {
	d := deque.NewPadWS[int](deque.PadWSConfig{Entries: 1, Blocks: 2})
	requireNothing(t, d, deque.NotReady)
	for i := range 20 {
		require.Equal(t, deque.Shown, d.Push(new(i)))
		requireStolen(t, d, i)
		requireNothing(t, d, deque.Empty)
		require.Equal(t, 1, d.Asked(), "empty or not, the thief may sleep")
		require.Nil(t, pop(d))
		d.CheckRest()
	}
}

// TestPadWSEmptyAsks: a thief takes the last item of the owner's block without asking for the next, because the owner
// was above when the thief looked. The next thief asks.
func TestPadWSEmptyAsks(t *testing.T) {
	d := deque.NewPadWS[int](deque.PadWSConfig{Entries: 2, Blocks: 2})
	all := numbers(3)
	d.Push(all[0])
	d.Push(all[1])
	require.Equal(t, deque.Shown, d.Push(all[2]), "the block below")
	thief := deque.NewSlowPadThief(d)
	thief.Step()
	thief.Step()
	require.Same(t, all[2], pop(d))
	require.Same(t, all[1], pop(d))
	require.NotEqual(t, deque.Refused, d.Push(all[1]))
	requireNothing(t, d, deque.NotReady)
	require.Equal(t, deque.Shown, d.Poll())
	requireStolen(t, d, 0)
	require.Equal(t, deque.Shown, d.Poll())
	for over := false; !over; {
		_, _, over = thief.Step()
	}
	require.Zero(t, d.Asked())
	requireNothing(t, d, deque.Empty)
	require.Equal(t, deque.Shown, d.Push(all[2]), "the thief sleeps for ever")
}

// TestPadWSExhaustedAbove: a thief that looked when block 0 was the oldest finds block 3 in its place, and exhausts it
// before block 2. The owner finds the items of block 2.
func TestPadWSExhaustedAbove(t *testing.T) {
	d := deque.NewPadWS[int](deque.PadWSConfig{Entries: 1, Blocks: 3})
	all := numbers(5)
	thief := deque.NewSlowPadThief(d)
	thief.Step()
	thief.Step()
	requireNothing(t, d, deque.NotReady)
	for i, p := range all[:2] {
		d.Push(p)
		requireStolen(t, d, i)
	}
	for _, p := range all[2:] {
		require.NotEqual(t, deque.Refused, d.Push(p))
	}
	for {
		p, outcome, over := thief.Step()
		if over {
			require.Equal(t, deque.Stolen, outcome)
			require.Same(t, all[3], p, "not the oldest")
			break
		}
	}
	require.Same(t, all[4], pop(d))
	require.Same(t, all[2], pop(d))
	require.Nil(t, pop(d))
	d.CheckRest()
}

// TestPadWSCopying: the owner does not go on to a block that a thief has not left.
func TestPadWSCopying(t *testing.T) {
	d := deque.NewPadWS[int](deque.PadWSConfig{Entries: 1, Blocks: 2})
	thief := deque.NewSlowPadThief(d)
	d.Push(new(0))
	d.Push(new(1))
	for !thief.Claimed() {
		thief.Step()
	}
	require.Equal(t, deque.Refused, d.Push(new(2)))
	require.EqualValues(t, 1, d.Counts().Copying)
	thief.Step()
	require.Equal(t, deque.Refused, d.Push(new(2)))
	p, outcome, _ := thief.Step()
	require.Equal(t, deque.Stolen, outcome)
	require.Zero(t, *p)
	require.NotEqual(t, deque.Refused, d.Push(new(2)))
	require.Zero(t, d.Counts().NoRoom)
}

// TestPadWSEpochComesRound: a grant of long ago is not valid again when the block's epoch has come round to its own.
func TestPadWSEpochComesRound(t *testing.T) {
	d := deque.NewPadWS[int](deque.PadWSConfig{Entries: 1, Blocks: 3})
	all := numbers(3)
	for _, p := range all {
		d.Push(p)
	}
	for range all {
		pop(d)
	}
	require.Zero(t, d.Newest())
	d.ComeRound(1)
	d.Push(all[0])
	d.Push(all[1])
	require.Equal(t, 1, d.Newest())
	requireStolen(t, d, 0)
	requireNothing(t, d, deque.NotReady)
	require.Same(t, all[1], pop(d))
}

// TestPadWSRetention: the deque keeps no item that was popped or stolen.
func TestPadWSRetention(t *testing.T) {
	d := deque.NewPadWS[heavy](deque.PadWSConfig{Entries: 4, Blocks: 8})
	requireNothingRetained(t, d, func() {
		d.Steal()
		d.Poll()
	})
}

func TestPadWSAllocs(t *testing.T) {
	d, p := deque.NewPadWS[int](deque.PadWSConfig{Entries: 2, Blocks: 2}), new(int)
	require.Zero(t, testing.AllocsPerRun(100, func() {
		d.Push(p)
		d.Push(p)
		d.Push(p)
		d.Steal()
		d.Poll()
		d.Steal()
		for pop(d) != nil {
		}
	}))
}

// TestPadWSWanted: an item is wanted while a request stands, or when there is none to steal.
func TestPadWSWanted(t *testing.T) {
	d := deque.NewPadWS[int](deque.PadWSConfig{Entries: 4, Blocks: 2})
	require.True(t, d.Wanted(), "nothing to steal")
	for _, p := range numbers(4) {
		d.Push(p)
	}
	require.True(t, d.Wanted(), "nothing granted")
	d.AskFor(2)
	require.True(t, d.Wanted(), "asked for")
	require.Equal(t, deque.Shown, d.Poll())
	require.False(t, d.Wanted())
	requireStolen(t, d, 0)
	require.True(t, d.Wanted(), "asked for more")
	require.Equal(t, deque.Shown, d.Poll())
	require.False(t, d.Wanted())
	d.Push(new(4))
	requireStolen(t, d, 1)
	require.False(t, d.Wanted(), "there is some below")
	requireStolen(t, d, 2)
	requireStolen(t, d, 3)
	require.True(t, d.Wanted(), "the block below is exhausted")
}
