package cluster

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/magpie-go/magpie/executor/cluster/internal/jet"
	"github.com/magpie-go/magpie/executor/cluster/internal/protocol"
	"github.com/magpie-go/magpie/executor/cluster/internal/wire"
)

// A DeadLetter is a message that the queue has given up: workers were lost with it, or what it needs was lost or could
// not be read, or no worker or client has written it. A run of which a message was given up has failed, and does not go
// on. So no letter can be put back: whoever needs the results submits the graph again, with another ID.
type DeadLetter struct {
	ID  uint64    // of the letter in its queue, for RemoveDeadLetter
	At  time.Time // when the message was given up, by the clock of the server
	Why string    // at most 4 KiB of it

	// Deliveries is how often the message was delivered to workers. 0 means that an older worker has not recorded it.
	Deliveries uint64

	// What the message is about, as far as it and the plan of its run can still be read.
	Run   string // its ID; "" if the message cannot be read
	Part  int    // the index of the partition, or -1 if the message begins the run or cannot be read
	Graph string // its name
	Calls int    // how many calls the partition has
	Call  string // the first of them, as errors name it
}

// DeadLetters returns the dead letters of the queue, those first that were given up first. They stay until they are
// removed. An error is the last that it gives. Each letter costs a message, and a read of the plan of its run.
//
//	for letter, err := range client.DeadLetters(ctx) {
//		…
//	}
func (c *Client) DeadLetters(ctx context.Context) iter.Seq2[DeadLetter, error] {
	return func(yield func(DeadLetter, error) bool) {
		last := lastPlan{client: c}
		for l, err := range c.q.Letters(ctx) {
			var d DeadLetter
			if err == nil {
				d, err = last.describe(ctx, l)
			}
			if err != nil {
				yield(DeadLetter{}, fmt.Errorf("cluster: dead letters: %w", err))
				return
			}
			if !yield(d, nil) {
				return
			}
		}
	}
}

// A lastPlan is the plan of the last letter that was described: letters of one run often follow each other.
type lastPlan struct {
	client *Client
	hash   string
	*partitioned
}

// describe says what a letter is about.
func (p *lastPlan) describe(ctx context.Context, l jet.Letter) (DeadLetter, error) {
	d := DeadLetter{ID: l.Number, At: l.Buried, Why: l.Why, Deliveries: l.Deliveries, Part: -1}
	m, err := wire.DecodeMessage(l.Raw)
	if err != nil { // that is why it was given up
		return d, nil
	}
	d.Run = m.Run
	if m.Kind == wire.Start {
		d.Graph = m.Begin.Name
		return d, nil
	}
	d.Part = m.Part
	if err := p.load(ctx, m.Plan); err != nil {
		return d, err
	}
	if p.partitioned == nil {
		return d, nil
	}
	d.Graph = p.graph.name
	if m.Part < len(p.parts) && len(p.parts[m.Part]) > 0 {
		calls := p.parts[m.Part]
		d.Calls, d.Call = len(calls), p.graph.label(calls[0])
	}
	return d, nil
}

// load loads a plan, unless it is the last one. There is none then if it was removed or cannot be read.
func (p *lastPlan) load(ctx context.Context, hash string) error {
	if hash == p.hash {
		return nil
	}
	plan, err := p.client.plans.Plan(ctx, hash)
	for _, unreadable := range []error{protocol.ErrMissing, wire.ErrMalformed, wire.ErrNewer} {
		if errors.Is(err, unreadable) {
			p.hash, p.partitioned = hash, nil
			return nil
		}
	}
	if err != nil {
		return err
	}
	p.hash = hash
	if p.partitioned, err = newPartitioned(plan); err != nil {
		p.partitioned = nil
	}
	return nil
}

// ErrNoLetter is the error of [Client.RemoveDeadLetter] for a letter that is not there.
var ErrNoLetter = errors.New("cluster: there is no dead letter with that ID")

// RemoveDeadLetter removes a dead letter.
func (c *Client) RemoveDeadLetter(ctx context.Context, id uint64) error {
	err := c.q.RemoveLetter(ctx, id)
	if errors.Is(err, jet.ErrNoLetter) {
		return fmt.Errorf("%w: %d", ErrNoLetter, id)
	}
	if err != nil {
		return fmt.Errorf("cluster: %w", err)
	}
	return nil
}
