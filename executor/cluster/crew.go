package cluster

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/magpie-go/magpie/executor/cluster/internal/jet"
)

// A crew is the announcements of the workers, as a client has read them last. Any thread.
type crew struct {
	q     *jet.Queue
	turn  chan struct{} // full while a call reads them
	notes map[string]jet.Note
	at    time.Time // when they were read
}

func newCrew(q *jet.Queue) crew { return crew{q: q, turn: make(chan struct{}, 1)} }

// now returns the notices of the workers that live, in the order of their names.
func (c *crew) now(ctx context.Context) ([]notice, error) { return c.within(ctx, 0) }

// lately is now, or what was read less than isLong ago: no worker announces itself more often.
func (c *crew) lately(ctx context.Context) ([]notice, error) { return c.within(ctx, isLong) }

func (c *crew) within(ctx context.Context, age time.Duration) ([]notice, error) {
	select {
	case c.turn <- struct{}{}:
		defer func() { <-c.turn }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	if c.at.IsZero() || time.Since(c.at) >= age {
		notes, err := c.q.Notes(ctx, workerKeys)
		if err != nil {
			return nil, err
		}
		c.notes, c.at = notes, time.Now()
	}
	var workers []notice
	for _, note := range c.notes {
		n, ok := decodeNotice(note.Value)
		if !ok {
			continue
		}
		for i := range n.Running {
			n.Running[i].Worker = n.Worker
			n.Running[i].For += c.q.Since(note.Written)
		}
		workers = append(workers, n)
	}
	slices.SortFunc(workers, func(a, b notice) int { return strings.Compare(a.Worker, b.Worker) })
	return workers, nil
}
