package deque_test

import (
	"testing"

	"github.com/magpie-go/magpie/deque"
	"github.com/stretchr/testify/require"
)

// The near end of each kind takes and returns what Push and Pop do, as long as thieves have asked for nothing. Of a
// kind without one it never has room nor items.
func TestNear(t *testing.T) {
	for _, k := range deque.Kinds() {
		t.Run(k.String(), func(t *testing.T) {
			g, err := deque.NewGroup[item](k, 1, deque.Options{Capacity: 8, BlockSize: 4 * bit(k.Blocks())})
			require.NoError(t, err)
			q := g.Queue(0)
			n := deque.NearOf(q)
			require.False(t, n.MayPop(), "there is no item")
			if !n.MayPush() {
				require.NotEqual(t, deque.Refused, q.Push(new(item)))
				require.False(t, n.MayPop() || n.MayPush())
				return
			}
			items := make([]item, 5)
			n.Push(&items[0])
			require.Equal(t, deque.Nothing, q.Push(&items[1]))
			require.Same(t, &items[1], n.Pop())
			for i := range items[1:] {
				require.Equal(t, i < 3, n.MayPush(), "a block has four places")
				q.Push(&items[1+i])
			}
			require.Same(t, &items[4], n.Pop())
			require.False(t, n.MayPop(), "the block below is not the owner's")
			if k.Asks() {
				_, _ = q.Pop()
				require.True(t, n.MayPush() && n.MayPop())
				q.Ask()
				require.False(t, n.MayPush() || n.MayPop(), "a thief has asked")
			}
		})
	}
}

func bit(is bool) int {
	if is {
		return 1
	}
	return 0
}
