package protocol

import (
	"context"
	"errors"

	"github.com/magpie-go/magpie/executor/cluster/internal/wire"
)

// amend changes the record of attempts under key, and returns it.
func amend(ctx context.Context, s Store, key string, change func(*wire.Tries)) (wire.Tries, error) {
	for range attempts {
		found, err := s.Get(ctx, key)
		if err != nil {
			return wire.Tries{}, err
		}
		tries, err := triesIn(found[0])
		if err != nil {
			return tries, err
		}
		change(&tries)
		err = replace(ctx, s, key, wire.Encode(tries), found[0].Revision)
		if !errors.Is(err, ErrConflict) {
			return tries, err
		}
	}
	return wire.Tries{}, errChanging
}

// triesIn decodes a record of attempts, or none.
func triesIn(r Record) (wire.Tries, error) {
	if r.Revision == 0 {
		return wire.Tries{V: wire.Version}, nil
	}
	return wire.DecodeTries(r.Value)
}
