package cluster

import (
	"context"
	"maps"
	"time"

	"github.com/magpie-go/magpie/executor/cluster/internal/jet"
)

// patience is how long a client that is Patient waits for a worker to announce itself before it looks by itself: the
// watch of a client that was cut off is late, and a worker that comes back as it was before is not new. Arbitrary.
const patience = 10 * time.Second

// newcomers returns a channel that has a value when a worker has announced itself that is not among the others, or has
// other functions there.
func (c *Client) newcomers(ctx context.Context, others []notice) (come <-chan struct{}, stop func(), err error) {
	known := map[string]map[string]Signature{}
	for _, n := range others {
		known[n.Worker] = n.Functions
	}
	wake := make(chan struct{}, 1)
	stop, err = c.q.Follow(ctx, jet.Follower{Note: func(_ string, value []byte) {
		n, ok := decodeNotice(value)
		if has, is := known[n.Worker]; !ok || is && maps.Equal(has, n.Functions) {
			return
		}
		known[n.Worker] = n.Functions
		select {
		case wake <- struct{}{}:
		default: // it is there
		}
	}}, workerKeys)
	return wake, stop, err
}
