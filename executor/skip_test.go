//go:build !modelcheck

package executor

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/require"
)

// A nested is the owner of a context in others.
type nested struct {
	ctx   taskContext
	up    *nested
	ended bool
}

func (n *nested) cancel(err, cause error) { n.ctx.cancel(err, cause) }
func (n *nested) subscribe()              {}
func (n *nested) noticeAbort()            {}
func (n *nested) home() any               { return nil }
func (n *nested) leader() *Run            { return nil }

// hasEnded reports whether n or one above has.
func (n *nested) hasEnded() bool { return n != nil && (n.ended || n.up.hasEnded()) }

// A context in others has ended if it or one of those has, in trees of any shape, whatever was asked before.
func TestRandomContextsInContexts(t *testing.T) {
	rng := rand.New(rand.NewPCG(testkit.Seed(t), 0))
	n := testkit.Count(t, 3000)
	for range n {
		around, end := context.WithCancelCause(context.Background())
		all := []*nested{}
		deep := rng.IntN(4) > 0
		for range 1 + rng.IntN(150) {
			c := &nested{}
			c.ctx.owner = c
			switch {
			case len(all) == 0:
				c.ctx.within(around)
			case deep && rng.IntN(8) > 0:
				c.up = all[len(all)-1]
			default:
				c.up = all[rng.IntN(len(all))]
			}
			if c.up != nil {
				c.ctx.within(&c.up.ctx)
			}
			all = append(all, c)
			for range rng.IntN(3) {
				asked := all[rng.IntN(len(all))]
				require.Equal(t, asked.hasEnded(), asked.ctx.Err() != nil)
			}
			switch victim := all[rng.IntN(len(all))]; rng.IntN(30) {
			case 0:
				victim.ended = true
				victim.ctx.cancel(context.Canceled, nil)
			case 1:
				victim.ctx.Done()
			case 2:
				require.Nil(t, victim.ctx.Value("no such key"))
			}
		}
		for _, c := range all {
			require.Equal(t, c.hasEnded(), c.ctx.Err() != nil)
		}
		end(errors.New("around"))
		for range 10 {
			c := all[rng.IntN(len(all))]
			require.Equal(t, context.Canceled, c.ctx.Err())
			if !c.hasEnded() {
				require.EqualError(t, context.Cause(&c.ctx), "around")
			}
		}
	}
	testkit.Proved(t, n, "trees of contexts")
}

// In a deep nest whose contexts end from the inside out no end is counted: each would make those that go on look at all
// above again.
func TestSkipsLeave(t *testing.T) {
	all := make([]nested, 10*skipEvery)
	for i := range all {
		c := &all[i]
		c.ctx.owner = c
		if i == 0 {
			c.ctx.within(context.Background())
		} else {
			c.ctx.within(&all[i-1].ctx)
		}
		require.NoError(t, c.ctx.Err())
	}
	before := deepEnds.Load()
	for i := len(all) - 1; i >= 0; i-- {
		require.NoError(t, all[i].ctx.Err())
		all[i].cancel(context.Canceled, nil)
	}
	require.Equal(t, before, deepEnds.Load(), "ends were counted")
}
