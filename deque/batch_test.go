package deque_test

import (
	"testing"

	"github.com/magpie-go/magpie/deque"
	"github.com/stretchr/testify/require"
)

// requireBatch steals a batch of at most room items, and requires consecutive items of which the first is want.
func requireBatch(t *testing.T, d deque.Batcher[int], batch deque.Batch, room, want, count int) {
	t.Helper()
	into := make([]*int, room)
	n, outcome := d.StealBatch(into, batch)
	require.Equal(t, count, n)
	require.Equal(t, deque.Stolen, outcome)
	for i, p := range into {
		if i < n {
			require.Equal(t, want+i, *p)
		} else {
			require.Nil(t, p)
		}
	}
}

func requireNoBatch(t *testing.T, d deque.Batcher[int], want deque.Outcome) {
	t.Helper()
	into := make([]*int, 1)
	n, outcome := d.StealBatch(into, deque.Half)
	require.Zero(t, n)
	require.Equal(t, want, outcome)
	require.Nil(t, into[0])
}

// TestBatch: the numbers of items that One, Half and Block take of seven in one place.
func TestBatch(t *testing.T) {
	for _, k := range deque.Kinds() {
		if !k.Batches() {
			continue
		}
		t.Run(k.String(), func(t *testing.T) {
			o, nothing, first := deque.Options{Capacity: 28}, deque.Empty, 0
			if k.Blocks() {
				o.BlockSize = 7
			}
			if k.Asks() {
				nothing = deque.NotReady
			}
			if k.FIFO() {
				first = -7 // in the block that the owner takes from
			}
			make := func() deque.Queue[int] {
				g, err := deque.NewGroup[int](k, 1, o)
				require.NoError(t, err)
				q := g.Queue(0)
				for i := first; q.Len() < 7; i++ {
					require.NotEqual(t, deque.Refused, q.Push(new(i)))
				}
				return q
			}
			q := make()
			d := q.(deque.Batcher[int])
			require.Equal(t, 7, q.Len())
			requireBatch(t, d, deque.One, 9, 0, 1)
			requireBatch(t, d, deque.Half, 9, 1, 3)
			requireBatch(t, d, deque.Half, 9, 4, 2)
			requireBatch(t, d, deque.Half, 9, 6, 1)
			require.False(t, q.Ask())
			requireNoBatch(t, d, nothing)

			q = make()
			d = q.(deque.Batcher[int])
			requireBatch(t, d, deque.Half, 2, 0, 2)
			requireBatch(t, d, deque.Block, 2, 2, 2)
			requireBatch(t, d, deque.Block, 9, 4, 3)
			requireNoBatch(t, d, nothing)
			require.Panics(t, func() { make().(deque.Batcher[int]).StealBatch(nil, deque.One) })
		})
	}
}

// TestBatchStaysInItsBlock: a batch is from one block, and the next batch from the next block.
func TestBatchStaysInItsBlock(t *testing.T) {
	all := numbers(9)
	d := deque.NewBWoS[int](16, 4)
	for _, p := range all {
		d.Push(p)
	}
	requireBatch(t, d, deque.Half, 8, 0, 2)
	requireBatch(t, d, deque.Block, 8, 2, 2)
	requireBatch(t, d, deque.Block, 8, 4, 4)
	requireNoBatch(t, d, deque.Empty)
	require.Same(t, all[8], pop(d))
	require.Nil(t, pop(d))
	for range 16 {
		require.NotEqual(t, deque.Refused, d.Push(new(int)), "what batches have emptied can be used again")
	}
}

// TestBatchPadWSGranted: in the owner's block a batch has only granted items, and asks for as many.
func TestBatchPadWSGranted(t *testing.T) {
	d := deque.NewPadWS[int](deque.PadWSConfig{Entries: 16, Blocks: 2, Window: 4})
	for _, p := range numbers(16) {
		d.Push(p)
	}
	requireNoBatch(t, d, deque.NotReady)
	require.Equal(t, 1, d.Asked())
	require.Equal(t, deque.Shown, d.Poll())
	d.AskFor(2)
	require.Equal(t, deque.Shown, d.Poll())
	requireBatch(t, d, deque.Half, 16, 0, 2)
	require.Equal(t, 2, d.Asked())
	require.Equal(t, deque.Shown, d.Poll())
	requireBatch(t, d, deque.Block, 16, 2, 3)
	require.Equal(t, 3, d.Asked())
	requireNoBatch(t, d, deque.NotReady)
	require.Equal(t, 3, d.Asked())
	for want := 15; want >= 11; want-- {
		require.Equal(t, want, *pop(d))
	}
	d.CheckRest()
}
