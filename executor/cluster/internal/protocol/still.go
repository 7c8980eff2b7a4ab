package protocol

import "context"

// A Stock tells what the work queue holds.
type Stock interface {
	// IsEmpty reports whether the work queue has no message, neither one that waits nor one that is leased.
	IsEmpty(ctx context.Context) (bool, error)
}

// StandsStill reports whether nothing leads a run on: it is Running, and the queue has lost its messages (L1). Whoever
// waits for a run may ask this again and again, and call Resume then. The error is ErrUnknown for a run without a state.
func StandsStill(ctx context.Context, s Store, stock Stock, run string) (bool, error) {
	runs := func() (bool, error) {
		state, err := Attach(ctx, s, run)
		return err == nil && !state.Final(), err
	}
	// L1: the state, the queue, the state. A run that is Running before and after was so in between. Without the first
	// look it could have begun after the second, and without the third have ended before.
	for _, look := range []func() (bool, error){runs, func() (bool, error) { return stock.IsEmpty(ctx) }, runs} {
		if yes, err := look(); err != nil || !yes {
			return false, err
		}
	}
	return true, nil
}
