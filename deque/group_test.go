package deque_test

import (
	"fmt"
	"testing"

	"github.com/magpie-go/magpie/deque"
	"github.com/stretchr/testify/require"
)

func TestKindNames(t *testing.T) {
	for _, k := range deque.Kinds() {
		text, err := k.MarshalText()
		require.NoError(t, err)
		require.Equal(t, k.String(), string(text))
		var parsed deque.Kind
		require.NoError(t, parsed.UnmarshalText(text))
		require.Equal(t, k, parsed)
	}
	require.Equal(t, "[chaselev abp bwos bwos-fifo padws adws pdqr pdqs locked]", fmt.Sprint(deque.Kinds()))
	var parsed deque.Kind
	require.EqualError(t, parsed.UnmarshalText([]byte("lifo")), `deque: there is no kind "lifo": `+
		`choose one of chaselev, abp, bwos, bwos-fifo, padws, adws, pdqr, pdqs, locked`)
	unknown := deque.Kind(200)
	require.Equal(t, "Kind(200)", unknown.String())
	_, err := unknown.MarshalText()
	require.EqualError(t, err, "deque: there is no Kind(200)")
	require.False(t, unknown.Hides() || unknown.Asks() || unknown.Bounded())
}

func TestBatchNames(t *testing.T) {
	for i, name := range []string{"one", "half", "block"} {
		text, err := deque.Batch(i).MarshalText()
		require.NoError(t, err)
		require.Equal(t, name, string(text))
		var parsed deque.Batch
		require.NoError(t, parsed.UnmarshalText(text))
		require.Equal(t, deque.Batch(i), parsed)
	}
	var empty = deque.Block
	require.NoError(t, empty.UnmarshalText(nil))
	require.Equal(t, deque.One, empty)
	kind := deque.KindABP
	require.NoError(t, kind.UnmarshalText([]byte("")))
	require.Equal(t, deque.KindChaseLev, kind)
	parsed := deque.Half
	require.EqualError(t, parsed.UnmarshalText([]byte("all")),
		`deque: there is no batch "all": choose one of [one half block]`)
	require.Equal(t, deque.Half, parsed)
	_, err := deque.Batch(3).MarshalText()
	require.EqualError(t, err, "deque: there is no Batch(3)")
}

// TestKindAbout: every row has a description of one line, and no two are the same.
func TestKindAbout(t *testing.T) {
	seen := map[string]bool{"": true}
	for _, k := range deque.Kinds() {
		require.NotEmpty(t, k.String())
		require.False(t, seen[k.About()], "%v: %q", k, k.About())
		require.NotContains(t, k.About(), "\n")
		seen[k.About()] = true
	}
}

// TestGroup: the queues of a group, chosen by the name of their kind, behave as the methods of Kind say.
func TestGroup(t *testing.T) {
	for _, k := range deque.Kinds() {
		g, err := deque.NewGroup[int](k, 2, deque.Options{})
		require.NoError(t, err, k)
		q := g.Queue(1)
		_, ok := q.(deque.Batcher[int])
		require.Equal(t, k.Batches(), ok, k)
		_, ok = q.(deque.Receiver[int])
		require.Equal(t, k.Receives(), ok, k)

		all := numbers(2)
		require.False(t, q.Ask(), k)
		for _, p := range all {
			effect := q.Push(p)
			require.NotEqual(t, deque.Refused, effect, k)
			require.True(t, k.Hides() || effect == deque.Shown, k)
		}
		if !k.Hides() {
			require.True(t, q.Ask(), k)
		}
		require.LessOrEqual(t, q.Len(), 2, k)
		if k.FIFO() {
			require.Same(t, all[0], pop(q), k)
		} else {
			require.Same(t, all[1], pop(q), k)
		}
		require.NotNil(t, pop(q), k)
		require.Nil(t, pop(q), k)
		require.NotSame(t, q, g.Queue(0), k)
		require.Panics(t, func() { g.Queue(2) }, k)
		require.Panics(t, func() { g.Queue(-1) }, k)
	}
}

// TestGroupSizes: bounded queues take as many items as was asked for, or 1024; the others more.
func TestGroupSizes(t *testing.T) {
	for _, k := range deque.Kinds() {
		for _, c := range []struct{ capacity, most int }{{0, 1024}, {1, 2}, {100, 128}} {
			g, err := deque.NewGroup[int](k, 1, deque.Options{Capacity: c.capacity})
			require.NoError(t, err)
			q, n := g.Queue(0), 0
			for n <= c.most && q.Push(new(int)) != deque.Refused {
				n++
			}
			require.Equal(t, k.Bounded(), n <= c.most, "%v with %d", k, c.capacity)
			require.GreaterOrEqual(t, n, c.capacity, "%v with %d", k, c.capacity)
		}
	}
	g, err := deque.NewGroup[int](deque.KindBWoS, 1, deque.Options{Capacity: 8, BlockSize: 3})
	require.NoError(t, err)
	q := g.Queue(0)
	for range 3 {
		require.Equal(t, deque.Nothing, q.Push(new(int)))
		require.Zero(t, q.Len())
	}
	require.Equal(t, deque.Shown, q.Push(new(int)))
	require.Equal(t, 3, q.Len())

	for _, k := range deque.Kinds() {
		if !k.Asks() && !k.Receives() {
			continue
		}
		g, err := deque.NewGroup[int](k, 2, deque.Options{Keep: 1})
		require.NoError(t, err)
		q := g.Queue(0)
		q.Ask()
		q.Push(new(int))
		require.True(t, q.Wanted(), "%v keeps one", k)
		q.Push(new(int))
		require.False(t, q.Wanted(), "%v keeps no more", k)
	}
}

func TestGroupErrors(t *testing.T) {
	for _, c := range []struct {
		kind deque.Kind
		n    int
		o    deque.Options
		want string
	}{
		{deque.Kind(9), 1, deque.Options{},
			"there is no Kind(9): choose one of [chaselev abp bwos bwos-fifo padws adws pdqr pdqs locked]"},
		{deque.KindABP, 0, deque.Options{}, "a group has at least one queue, not 0"},
		{deque.KindLocked, 1, deque.Options{Capacity: -1},
			"Capacity is -1: choose 1 to 16777216 for locked, or 0 for the default"},
		{deque.KindABP, 1, deque.Options{Capacity: 1 << 24},
			"Capacity is 16777216: choose 1 to 16777215 for abp, or 0 for the default"},
		{deque.KindABP, 1, deque.Options{BlockSize: 8}, "BlockSize is 8, but abp has no blocks: leave it 0"},
		{deque.KindBWoS, 1, deque.Options{BlockSize: -8}, "BlockSize is -8: choose 1 to 32768, or 0 for the default"},
		{deque.KindPadWS, 1, deque.Options{BlockSize: 1<<15 + 1},
			"BlockSize is 32769: choose 1 to 32768, or 0 for the default"},
		{deque.KindPadWS, 1, deque.Options{Keep: -1}, "Keep is -1: choose 0 or more"},
		{deque.KindBWoS, 1, deque.Options{Keep: 1}, "Keep is 1, but an owner of bwos hands nothing out: leave it 0"},
	} {
		g, err := deque.NewGroup[int](c.kind, c.n, c.o)
		require.EqualError(t, err, "deque: "+c.want)
		require.Nil(t, g)
	}
}
