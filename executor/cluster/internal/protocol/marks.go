package protocol

import (
	"context"

	"github.com/magpie-go/magpie/executor/cluster/internal/wire"
)

// A set is a record of members 0 … n-1 that finish one by one. A set of more than width members is a tree: it is cut
// into blocks, and what has a member for each complete block is a set again. So members that finish at the same time
// seldom change the same record.
type set struct {
	store Store
	width int // at least 2
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
	complete, err = s.mark(ctx, blockKey(s.key, blocks, block), (s.n-block+blocks-1)/blocks, i/blocks)
	if err != nil || !complete {
		return false, err
	}
	return set{s.store, s.width, s.key, blocks}.add(ctx, block)
}

// mark adds member i to the record of a set of n members, and reports whether it is complete.
func (s set) mark(ctx context.Context, key string, n, i int) (complete bool, err error) {
	err = compareAndSet(ctx, s.store, func() error {
		found, err := s.store.Get(ctx, key)
		if err != nil {
			return err
		}
		marks := wire.NewMarks(n)
		if found[0].Revision != 0 {
			if marks, err = wire.DecodeMarks(found[0].Value, n); err != nil {
				return err
			}
		}
		if marks.Has(i) {
			complete = marks.Complete() // P3
			return nil
		}
		marks.Add(i)
		complete = marks.Complete()
		return replace(ctx, s.store, key, wire.Encode(marks), found[0].Revision)
	})
	return complete && err == nil, err
}
