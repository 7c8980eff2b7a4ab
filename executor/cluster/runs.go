package cluster

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/magpie-go/magpie/executor/cluster/internal/jet"
	"github.com/magpie-go/magpie/executor/cluster/internal/protocol"
	"github.com/magpie-go/magpie/executor/cluster/internal/wire"
)

// A RunStatus is a run of a queue.
type RunStatus struct {
	ID    string
	Graph string    // its name
	Began time.Time // when the server stored what was submitted, by its clock; zero if the run was cancelled before

	// For is how long it has run since then, or did to its end.
	For time.Duration

	Progress
}

// Runs returns the runs that the queue knows, those first that began first: those that run, and those that have ended
// within the time that the queue keeps. A run that no worker has begun is not known yet.
//
// The client reads of the runs only what has changed since the last call, and how many partitions those that go on have
// done. So it keeps some hundred bytes for each.
func (c *Client) Runs(ctx context.Context) ([]RunStatus, error) {
	runs, err := c.runs(ctx)
	if err != nil {
		return nil, fmt.Errorf("cluster: runs: %w", err)
	}
	return runs, nil
}

func (c *Client) runs(ctx context.Context) ([]RunStatus, error) {
	select {
	case c.journal.turn <- struct{}{}:
		defer func() { <-c.journal.turn }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	entries, err := c.journal.read(ctx, c.q)
	if err != nil {
		return nil, err
	}
	workers, err := c.crew.lately(ctx)
	if err != nil {
		return nil, err
	}
	runs := make([]RunStatus, len(entries))
	err = jet.Each(len(entries), func(i int) (err error) {
		runs[i], err = c.status(ctx, entries[i], workers)
		return err
	})
	slices.SortFunc(runs, func(a, b RunStatus) int {
		if n := a.Began.Compare(b.Began); n != 0 {
			return n
		}
		return strings.Compare(a.ID, b.ID)
	})
	return runs, err
}

// status returns how far a run is. Of one that has ended it counts the partitions once, unless its records change.
func (c *Client) status(ctx context.Context, e *entry, workers []notice) (RunStatus, error) {
	r := RunStatus{ID: e.run, Graph: e.state.Begin.Name, Began: e.state.Began}
	switch {
	case e.state.Began.IsZero():
	case e.state.Final():
		r.For = max(0, e.written.Sub(e.state.Began)) // its last change
	default:
		r.For = c.q.Since(e.state.Began)
	}
	if e.last != nil {
		r.Progress = *e.last
		return r, nil
	}
	if e.state.Final() {
		workers = nil // what they have said may be older than the end
	}
	failed, _ := e.failed.count()
	p, err := c.progress(ctx, e.run, e.state, failed, workers)
	r.Progress = p
	if err == nil && e.state.Final() {
		e.last = &p
	}
	return r, err
}

// A journal is what a client has read of the runs of its queue.
type journal struct {
	turn    chan struct{} // full while a call of Runs uses it
	reading *jet.Reading
	runs    map[string]*entry
}

// An entry is a run in a journal.
type entry struct {
	run     string
	state   wire.State
	written time.Time // the state, by the clock of the server; zero if it was not read yet
	changed time.Time // any of its records
	failed  tally
	last    *Progress // at its end, if it was counted since changed
}

func newJournal(q *jet.Queue) journal {
	return journal{
		turn:    make(chan struct{}, 1),
		reading: q.NewReading(protocol.StateKey("*"), protocol.TriesKeys("*")),
		runs:    map[string]*entry{},
	}
}

// read returns the runs that have a state.
func (j *journal) read(ctx context.Context, q *jet.Queue) (known []*entry, err error) {
	err = j.reading.Next(ctx, func() { clear(j.runs) }, j.note)
	if err != nil {
		return nil, err
	}
	for run, e := range j.runs {
		switch { // the server removes records with age, and does not tell
		case q.Since(e.changed) >= q.Keep():
			delete(j.runs, run)
		case !e.written.IsZero() && q.Since(e.written) < q.Keep():
			known = append(known, e)
		}
	}
	return known, nil
}

// note notes a record of a run. A state of a newer version is left out, as is one that was removed.
func (j *journal) note(key string, n jet.Note) {
	run, rest, _ := strings.Cut(strings.TrimPrefix(key, "r."), ".")
	e := j.runs[run]
	if e == nil {
		e = &entry{run: run}
		j.runs[run] = e
	}
	e.changed, e.last = n.Written, nil
	if rest != "state" {
		e.failed.note(key, n.Value)
		return
	}
	e.state, e.written = wire.State{}, time.Time{}
	if s, err := wire.DecodeState(n.Value); err == nil {
		e.state, e.written = s, n.Written
	}
}
