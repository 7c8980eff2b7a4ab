package protocol

import (
	"context"
	"errors"

	"github.com/magpie-go/magpie/executor/cluster/internal/wire"
)

// A set is a record of members 0 … n-1 that finish one by one. A large set is cut into blocks, and its record has a
// member for each complete block: members that finish at the same time seldom change the same record.
type set struct {
	store Store
	width int // a larger set has blocks of at most this size
	key   string
	n     int
}

// add adds member i, and reports whether the set is complete, by whomever. It is idempotent, and the caller whose
// member completes the set is told so each time it adds it (C3).
func (s set) add(ctx context.Context, i int) (complete bool, err error) {
	if s.n <= s.width {
		return s.mark(ctx, s.key, s.n, i)
	}
	blocks := (s.n + s.width - 1) / s.width
	block := i % blocks // neighbours finish at the same time, and are in different blocks
	complete, err = s.mark(ctx, blockKey(s.key, block), (s.n-block+blocks-1)/blocks, i/blocks)
	if err != nil || !complete {
		return false, err
	}
	return s.mark(ctx, s.key, blocks, block)
}

// mark adds member i to the record of a set of n members, and reports whether it is complete.
func (s set) mark(ctx context.Context, key string, n, i int) (complete bool, err error) {
	for range attempts {
		found, err := s.store.Get(ctx, key)
		if err != nil {
			return false, err
		}
		marks := wire.NewMarks(n)
		if found[0].Revision != 0 {
			if marks, err = wire.DecodeMarks(found[0].Value, n); err != nil {
				return false, err
			}
		}
		if marks.Has(i) {
			return marks.Complete(), nil // P3
		}
		marks.Add(i)
		err = replace(ctx, s.store, key, wire.Encode(marks), found[0].Revision)
		if err == nil {
			return marks.Complete(), nil
		}
		if !errors.Is(err, ErrConflict) {
			return false, err
		}
	}
	return false, errChanging
}

// replace updates a record of a revision, or creates it if that is 0. It returns ErrConflict if the revision is another
// one.
func replace(ctx context.Context, s Store, key string, value []byte, revision uint64) error {
	if revision != 0 {
		return s.Update(ctx, key, value, revision)
	}
	err := s.Create(ctx, key, value)
	if errors.Is(err, ErrExists) {
		return ErrConflict
	}
	return err
}
