package protocol

import (
	"context"

	"github.com/magpie-go/magpie/executor/cluster/internal/wire"
)

// amend changes the record of attempts under key, and returns it.
func amend(ctx context.Context, s Store, key string, change func(*wire.Tries)) (tries wire.Tries, err error) {
	err = compareAndSet(ctx, s, func() error {
		found, err := s.Get(ctx, key)
		if err != nil {
			return err
		}
		if tries, err = triesIn(found[0]); err != nil {
			return err
		}
		change(&tries)
		return replace(ctx, s, key, wire.Encode(tries), found[0].Revision)
	})
	return tries, err
}

// triesIn decodes a record of attempts, or none.
func triesIn(r Record) (wire.Tries, error) {
	if r.Revision == 0 {
		return wire.Tries{V: wire.Version}, nil
	}
	return wire.DecodeTries(r.Value)
}
