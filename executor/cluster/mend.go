package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/magpie-go/magpie/executor/cluster/internal/protocol"
	"github.com/magpie-go/magpie/executor/cluster/internal/wire"
)

// await returns the final state. Meanwhile it looks whether the run stands still.
func (h *Handle) await(ctx context.Context) (wire.State, error) {
	ctx, cancel := context.WithCancel(ctx)
	var mending sync.WaitGroup
	defer mending.Wait()
	defer cancel()
	mending.Go(func() { h.mend(ctx) })
	return h.end(ctx, nil)
}

// mendEvery is how often a client that waits for a run looks whether it stands still. Arbitrary: it seldom does, and a
// look is two messages.
const mendEvery = 10 * time.Second

// mend leads the run on until ctx ends, whenever its queue has lost what leads it on.
func (h *Handle) mend(ctx context.Context) {
	c := h.client
	looks := time.NewTicker(cmp.Or(c.c.seams.mendEvery, mendEvery))
	defer looks.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-looks.C:
		}
		still, err := protocol.StandsStill(ctx, c.q, c.q, h.id)
		if still {
			var n int
			if n, err = protocol.Resume(ctx, c.q, c.plans, h.id, c.trace(ctx)); err == nil {
				err = fmt.Errorf("the queue has lost messages: %d partitions were put into it again", n)
			}
		}
		if err != nil && ctx.Err() == nil && !errors.Is(err, protocol.ErrUnknown) { // ErrUnknown: no worker has begun it
			c.report(fmt.Errorf("run %s: %w", h.id, err))
		}
	}
}
