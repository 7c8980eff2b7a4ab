package jet

import (
	"context"
	"testing"
)

// TestStopCancels: the contexts of handlers end with that of Stop, also while a pull still waits for its server.
func TestStopCancels(t *testing.T) {
	p := NewPool(1, func(context.Context, *Delivery) {}, func(error) {})
	p.pulls.Go(func() { <-p.handling.Done() })
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	p.Stop(ctx)
}
