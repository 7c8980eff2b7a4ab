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
		tries = wire.Tries{V: wire.Version}
		if found[0].Revision != 0 {
			if tries, err = wire.DecodeTries(found[0].Value); err != nil {
				return err
			}
		}
		change(&tries)
		return replace(ctx, s, key, wire.Encode(tries), found[0].Revision)
	})
	return tries, err
}
