package cluster

import (
	"context"
	"sync/atomic"
	"time"
)

const (
	// DefaultTarget is the default of [ClientConfig.Target] where the way to the server is short.
	DefaultTarget = 20 * time.Millisecond

	// ways is how many times as long as the way of a message a partition takes, at least. A partition costs three or
	// four of them, which are a tenth of its time then. So a way of half a millisecond, in a good network, makes
	// partitions of 20 ms, and one of 1.25 ms makes 50 ms.
	ways = 40
)

// A target is what the calls of one partition should cost together. It is measured when it is first needed. Calls that
// need it at the same time all measure, and the first result counts.
type target struct{ known atomic.Int64 }

// isSmall reports whether a graph is worth at most one partition. It measures only if it must.
func (c *Client) isSmall(ctx context.Context, g *Graph) (bool, error) {
	if c.c.Target == 0 && g.cost() <= DefaultTarget {
		return true, nil
	}
	target, err := c.goal(ctx)
	return g.cost() <= target, err
}

// goal returns what the calls of one partition should cost together: ClientConfig.Target, or what the client has
// measured.
func (c *Client) goal(ctx context.Context) (time.Duration, error) {
	if c.c.Target != 0 {
		return c.c.Target, nil
	}
	if c.target.now() == 0 {
		way, err := c.q.Way(ctx)
		if err != nil {
			return 0, err
		}
		c.target.known.CompareAndSwap(0, int64(max(DefaultTarget, ways*way)))
	}
	return c.target.now(), nil
}

// now returns the target, or 0 if it was not measured yet.
func (t *target) now() time.Duration { return time.Duration(t.known.Load()) }
