package protocol

import (
	"context"
	"errors"

	"github.com/magpie-go/magpie/executor/cluster/internal/wire"
)

// attempts is how often a compare-and-set is tried before the message goes back to the queue. Arbitrary.
const attempts = 16

var errChanging = errors.New("the record keeps changing")

// compareAndSet calls try, which reads a record and writes it, until its error is not ErrConflict.
func compareAndSet(ctx context.Context, s Store, try func() error) error {
	for attempt := range attempts {
		if attempt > 0 {
			if err := s.Pause(ctx, attempt); err != nil {
				return err
			}
		}
		if err := try(); !errors.Is(err, ErrConflict) {
			return err
		}
	}
	return errChanging
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

// gone is the state of a run without a state. It is created where a state is missing, so that a late Start message does
// not begin the run.
func gone(text string) wire.State {
	return wire.State{V: wire.Version, Phase: wire.Cancelled,
		Error: &wire.Failure{Reason: wire.Gone, Part: -1, Text: text}}
}

// stateOf returns the state of run and its revision. If there is none, it creates ifNone: reads may be stale, and only
// Create tells that the state is missing (C2).
func stateOf(ctx context.Context, s Store, run string, ifNone wire.State) (state wire.State, revision uint64,
	err error) {
	err = compareAndSet(ctx, s, func() error {
		found, err := s.Get(ctx, StateKey(run))
		if err != nil {
			return err
		}
		if revision = found[0].Revision; revision != 0 {
			state, err = wire.DecodeState(found[0].Value)
			return err
		}
		state = ifNone
		return replace(ctx, s, StateKey(run), wire.Encode(ifNone), 0)
	})
	return state, revision, err
}

// conclude makes the state of run final, unless it is so already, and returns it (C1). If there is none, it becomes
// ifNone, which is final. A malformed state counts as one that is not final.
func conclude(ctx context.Context, s Store, run string, phase wire.Phase, failure *wire.Failure, ifNone wire.State) (
	state wire.State, err error) {
	err = compareAndSet(ctx, s, func() error {
		var revision uint64
		state, revision, err = stateOf(ctx, s, run, ifNone)
		if errors.Is(err, wire.ErrMalformed) { // nobody can go on from it
			state, err = wire.State{V: wire.Version, Phase: wire.Running}, nil
		}
		if err != nil || state.Final() {
			return err
		}
		state.Phase, state.Error = phase, failure
		return s.Update(ctx, StateKey(run), wire.Encode(state), revision)
	})
	return state, err
}
