package jet

import (
	"context"
	"math/rand/v2"
	"time"
)

// Pause implements protocol.Store. The time is arbitrary: about the way of a write to a loaded server at first.
func (q *Queue) Pause(ctx context.Context, attempt int) error {
	t := time.NewTimer(rand.N(5 * time.Millisecond << min(attempt, 6)))
	defer t.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-t.C:
		return nil
	}
}
