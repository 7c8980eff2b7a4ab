//go:build modelcheck

package deque

import (
	"testing"

	"github.com/magpie-go/magpie/internal/model"
	"github.com/stretchr/testify/require"
)

// TestModelBlocksPlain: inside a block the owner does no atomic operation.
func TestModelBlocksPlain(t *testing.T) {
	for name, make := range map[string]func() Queue[int]{
		"bwos":     func() Queue[int] { return newBWoS[int](16, 4) },
		"bwosFIFO": func() Queue[int] { return newBWoSFIFO[int](16, 4) },
	} {
		steps := func(pairs int) int {
			return model.Explore(model.Config{}, func() {
				d, p := make(), new(int)
				for range pairs {
					model.Assert(d.Push(p) == Nothing && d.Push(p) == Nothing, "pushing told of something")
					first, _ := d.Pop()
					second, _ := d.Pop()
					model.Assert(first == p && second == p, "not what was pushed")
				}
			}).Steps
		}
		require.Equal(t, steps(0), steps(100), name)
	}
}
