package protocol

import (
	"context"
	"errors"
	"fmt"

	"github.com/magpie-go/magpie/executor/cluster/internal/wire"
)

// Submit submits a run. One message commits the submission: after an error of Publish the run may begin or not, and
// Submit with the same arguments is harmless. class is one that a worker serves. All messages of the run have the
// trace.
func Submit(ctx context.Context, s Store, run, class string, plan []byte, begin wire.Begin, trace wire.Trace) error {
	hash, err := s.PutObject(ctx, plan) // P6: the plan, then the message
	if err != nil {
		return fmt.Errorf("the plan was not stored: %w", err)
	}
	m := wire.Message{V: wire.Version, Kind: wire.Start, Run: run, Plan: hash, Begin: &begin}
	return s.Publish(ctx, Post{Class: class, Message: m, ID: m.ID(), Trace: trace})
}

// Cancel makes the state of run Cancelled, unless it is final, and returns it. A run that has no state yet will not
// begin.
func Cancel(ctx context.Context, s Store, run, text string) (wire.State, error) {
	failure := &wire.Failure{Reason: wire.Cancel, Part: -1, Text: short(text)}
	return conclude(ctx, s, run, wire.Cancelled, failure,
		wire.State{V: wire.Version, Phase: wire.Cancelled, Error: failure})
}

// ErrUnknown: the run has no state. It may not have begun, or its records were removed.
var ErrUnknown = errors.New("the run is not known")

// Attach returns the state of run, or ErrUnknown.
func Attach(ctx context.Context, s Store, run string) (wire.State, error) {
	found, err := s.Get(ctx, StateKey(run))
	if err != nil {
		return wire.State{}, err
	}
	if found[0].Revision == 0 {
		return wire.State{}, ErrUnknown
	}
	return wire.DecodeState(found[0].Value)
}
