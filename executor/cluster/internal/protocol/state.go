package protocol

import (
	"context"
	"errors"

	"github.com/magpie-go/magpie/executor/cluster/internal/wire"
)

// attempts is how often a compare-and-set is tried before the message goes back to the queue. Arbitrary.
const attempts = 16

var errChanging = errors.New("the record keeps changing")

// gone is the state of a run without a state. It is created where a state is missing, so that a late Start message does
// not begin the run.
func gone(text string) wire.State {
	return wire.State{V: wire.Version, Phase: wire.Cancelled,
		Error: &wire.Failure{Reason: wire.Gone, Part: -1, Text: text}}
}

// stateOf returns the state of run and its revision. If there is none, it creates ifNone: reads may be stale, and only
// Create tells that the state is missing (C2).
func stateOf(ctx context.Context, s Store, run string, ifNone wire.State) (wire.State, uint64, error) {
	for range attempts {
		found, err := s.Get(ctx, StateKey(run))
		if err != nil {
			return wire.State{}, 0, err
		}
		if found[0].Revision != 0 {
			state, err := wire.DecodeState(found[0].Value)
			return state, found[0].Revision, err
		}
		err = s.Create(ctx, StateKey(run), wire.Encode(ifNone))
		if !errors.Is(err, ErrExists) {
			return ifNone, 0, err
		}
	}
	return wire.State{}, 0, errChanging
}

// conclude makes the state of run final, unless it is so already, and returns it (C1). If there is none, it becomes
// ifNone, which is final.
func conclude(ctx context.Context, s Store, run string, phase wire.Phase, failure *wire.Failure, ifNone wire.State) (
	wire.State, error) {
	for range attempts {
		state, revision, err := stateOf(ctx, s, run, ifNone)
		if err != nil || state.Final() {
			return state, err
		}
		state.Phase, state.Error = phase, failure
		err = s.Update(ctx, StateKey(run), wire.Encode(state), revision)
		if !errors.Is(err, ErrConflict) {
			return state, err
		}
	}
	return wire.State{}, errChanging
}
