//go:build modelcheck

package deque

import (
	"testing"

	"github.com/magpie-go/magpie/internal/model"
	"github.com/stretchr/testify/require"
)

// TestModelBlocksPlain: inside a block the owner does no atomic operation.
func TestModelBlocksPlain(t *testing.T) {
	for _, k := range Kinds() {
		if !k.Blocks() || k.Asks() {
			continue
		}
		steps := func(pairs int) int {
			return model.Explore(model.Config{}, func() {
				d, p := group(k, Options{Capacity: 16, BlockSize: 4}).Queue(0), new(int)
				for range pairs {
					model.Assert(d.Push(p) == Nothing && d.Push(p) == Nothing, "pushing told of something")
					first, _ := d.Pop()
					second, _ := d.Pop()
					model.Assert(first == p && second == p, "not what was pushed")
				}
			}).Steps
		}
		require.Equal(t, steps(0), steps(100), k)
	}
}
