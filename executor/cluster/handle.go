package cluster

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/magpie-go/magpie/executor/cluster/internal/jet"
	"github.com/magpie-go/magpie/executor/cluster/internal/protocol"
	"github.com/magpie-go/magpie/executor/cluster/internal/wire"
	"github.com/nats-io/nats.go"
)

// A Handle is a graph that was submitted. Its methods may be called at any time from any goroutine.
type Handle struct {
	client    *Client
	id        string
	submitted time.Time   // if this client has submitted it
	counted   atomic.Bool // its end
}

// ID returns the ID of the run, for [Client.Attach].
func (h *Handle) ID() string { return h.id }

// Wait waits for the end of the run, for as long as ctx and the connection last: a run that no worker begins does not
// end, nor does one whose records were removed before. Its error is a [*RunError] if the run has failed or was
// cancelled.
//
// Every ten seconds it looks whether the queue is empty, although the run has not ended. Then the queue has lost
// messages, and Wait calls [Handle.Resume].
func (h *Handle) Wait(ctx context.Context) (*Results, error) {
	state, err := h.await(ctx)
	if err != nil {
		return nil, fmt.Errorf("cluster: wait for run %s: %w", h.id, err)
	}
	h.ended(state)
	if state.Phase != wire.Done {
		return nil, runError(h.id, state)
	}
	results, err := h.results(ctx, state)
	if err != nil {
		return nil, fmt.Errorf("cluster: results of run %s: %w", h.id, err)
	}
	return results, nil
}

// look is how often Wait reads the state, beside being told of it: the watch of a client that was cut off is late by
// some seconds, and while servers restart there is none. Arbitrary.
const look = time.Second

// end returns the final state. Until then it counts failed attempts, unless failed is nil.
func (h *Handle) end(ctx context.Context, failed *tally) (wire.State, error) {
	ended := make(chan wire.State, 1)
	note := func(data []byte) {
		if s, err := wire.DecodeState(data); err == nil && s.Final() {
			select {
			case ended <- s:
			default: // it is there
			}
		}
	}
	patterns := []string{protocol.StateKey(h.id)}
	follower := jet.Follower{Note: func(key string, data []byte) {
		if key == patterns[0] {
			note(data)
		} else {
			failed.note(key, data)
		}
	}}
	if failed != nil {
		patterns = append(patterns, protocol.TriesKeys(h.id))
		follower.Begin, follower.All = failed.begin, failed.complete
	}
	stop, err := h.client.q.Follow(ctx, follower, patterns...)
	switch {
	case err == nil:
		defer stop()
	case !h.client.q.Passes(err):
		return wire.State{}, err
	}
	for {
		select {
		case final := <-ended:
			return final, nil
		case <-ctx.Done():
			return wire.State{}, context.Cause(ctx)
		case <-time.After(look):
		}
		found, err := h.client.q.Get(ctx, protocol.StateKey(h.id))
		switch {
		case errors.Is(err, nats.ErrConnectionClosed):
			return wire.State{}, err
		case err == nil && found[0].Revision != 0:
			note(found[0].Value)
		}
	}
}

// results returns the results of a run that is done.
func (h *Handle) results(ctx context.Context, state wire.State) (*Results, error) {
	q := h.client.q
	plan, err := h.client.plans.Plan(ctx, state.Plan)
	if err != nil {
		return nil, err
	}
	p, err := newPartitioned(plan)
	if err != nil {
		return nil, err
	}
	taken := p.graph.taken()
	var parts []int
	for k, calls := range p.parts {
		for _, i := range calls {
			if p.graph.kept(i, taken) {
				parts = append(parts, k)
				break
			}
		}
	}
	outputs, err := h.outputs(ctx, parts)
	if err != nil {
		return nil, err
	}
	return newResults(ctx, q, h.id, p.graph, outputs)
}

// outputs reads the outputs of partitions. The server that answers may be behind, for a short time.
func (h *Handle) outputs(ctx context.Context, parts []int) ([]wire.Output, error) {
	const tries, pause = 20, 250 * time.Millisecond // arbitrary
	for i := 0; ; i++ {
		outputs, err := protocol.Outputs(ctx, h.client.q, h.id, parts...)
		if !errors.Is(err, protocol.ErrMissing) || i == tries {
			return outputs, err
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(pause):
		}
	}
}

// Cancel ends the run, unless it has ended. Its functions' contexts are cancelled. cause, which may be nil, stands in
// the error of Wait.
func (h *Handle) Cancel(ctx context.Context, cause error) error {
	text := "it was cancelled"
	if cause != nil {
		text = cause.Error()
	}
	if _, err := protocol.Cancel(ctx, h.client.q, h.id, text); err != nil {
		return fmt.Errorf("cluster: cancel run %s: %w", h.id, err)
	}
	return nil
}

// Resume leads the run on, if its queue has lost what it had acknowledged: a server has lost power that does not sync
// each write, or its files were damaged. It reports how many partitions it has put into the queue again; more than once
// may be needed. It is harmless at any time, and of no use while partitions of the run are in the queue. What it puts
// there has the trace of ctx, not that of Submit.
//
// Wait calls it if the queue has no other messages. So it is for a queue that always has some, and for a run that nobody
// waits for.
func (h *Handle) Resume(ctx context.Context) (published int, err error) {
	published, err = protocol.Resume(ctx, h.client.q, h.client.plans, h.id, h.client.trace(ctx))
	if errors.Is(err, protocol.ErrUnknown) {
		err = ErrUnknownRun
	}
	if err != nil {
		return published, fmt.Errorf("cluster: resume run %s: %w", h.id, err)
	}
	return published, nil
}
