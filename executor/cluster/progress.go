package cluster

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/magpie-go/magpie/executor/cluster/internal/jet"
	"github.com/magpie-go/magpie/executor/cluster/internal/protocol"
	"github.com/magpie-go/magpie/executor/cluster/internal/wire"
)

// Progress is how far a run is.
type Progress struct {
	Begun  bool   // a worker has begun it
	Ended  bool   // it has results, or Reason says why not
	Reason Reason // "" if it runs, or has results
	Parts  int    // partitions
	Done   int    // partitions that have run

	// Failed is how many attempts at partitions have brought no output: a call has failed, a worker was lost, or an input
	// was missing. Most are made again.
	Failed int

	// Running has the partitions whose calls run, with their workers, as these have said at most a few seconds ago: those
	// of a second or more, and some of the others. What was begun first comes first. A worker says at most 64.
	Running []Running
}

// Progress returns how far the run is.
func (h *Handle) Progress(ctx context.Context) (Progress, error) {
	p, err := h.progress(ctx)
	if err != nil {
		return p, fmt.Errorf("cluster: progress of run %s: %w", h.id, err)
	}
	return p, nil
}

func (h *Handle) progress(ctx context.Context) (Progress, error) {
	state, err := protocol.Attach(ctx, h.client.q, h.id)
	if errors.Is(err, protocol.ErrUnknown) {
		return Progress{}, nil
	}
	if err != nil {
		return Progress{}, err
	}
	var workers []notice
	if !state.Final() {
		if workers, err = workersOf(ctx, h.client.q); err != nil {
			return Progress{}, err
		}
	}
	failed, err := h.client.failed(ctx, h.id)
	if err != nil {
		return Progress{}, err
	}
	return h.client.progress(ctx, h.id, state, failed[h.id], workers)
}

// failed returns how many attempts have brought no output, by run. runs may be a wildcard.
func (c *Client) failed(ctx context.Context, runs string) (map[string]int, error) {
	notes, err := c.q.Notes(ctx, "r."+runs+".f.*")
	if err != nil {
		return nil, err
	}
	failed := map[string]int{}
	for key, note := range notes {
		if t, err := wire.DecodeTries(note.Value); err == nil {
			run, _, _ := strings.Cut(strings.TrimPrefix(key, "r."), ".")
			failed[run] += t.Failed + t.Lost + t.Missing
		}
	}
	return failed, nil
}

// progress returns how far a run is that has a state.
func (c *Client) progress(ctx context.Context, run string, state wire.State, failed int, workers []notice) (
	p Progress, err error) {
	p = Progress{Begun: true, Ended: state.Final(), Parts: state.Begin.Parts, Done: state.Begin.Parts, Failed: failed}
	if state.Error != nil {
		p.Reason = Reason(state.Error.Reason)
		if p.Reason == Failed {
			p.Failed++ // the last one is not in the records of attempts
		}
	}
	if state.Phase != wire.Done {
		if p.Done, err = c.q.Count(ctx, "r."+run+".o.*"); err != nil {
			return p, err
		}
	}
	for _, w := range workers {
		for _, r := range w.Running {
			if r.Run == run {
				p.Running = append(p.Running, r)
			}
		}
	}
	slices.SortFunc(p.Running, byAge)
	return p, nil
}

// Watch returns the progress of the run now, every so often, and at its end, which is the last one. An error that it
// gives may pass, as while a server is away, and the loop may go on. It ends with ctx. The least of every is 10 ms.
//
//	for p, err := range h.Watch(ctx, time.Second) {
//		…
//	}
func (h *Handle) Watch(ctx context.Context, every time.Duration) iter.Seq2[Progress, error] {
	return func(yield func(Progress, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			_, _ = h.end(ctx) // what it returns is seen by the next look
		}()
		defer func() { cancel(); <-ended }()
		over := ended
		for ctx.Err() == nil {
			p, err := h.Progress(ctx)
			if ctx.Err() != nil || !yield(p, err) || err == nil && p.Ended {
				return
			}
			select {
			case <-ctx.Done():
			case <-over:
				over = nil // an error of end is no reason to look without a pause
			case <-time.After(max(every, 10*time.Millisecond)):
			}
		}
	}
}

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
func (c *Client) Runs(ctx context.Context) ([]RunStatus, error) {
	runs, err := c.runs(ctx)
	if err != nil {
		return nil, fmt.Errorf("cluster: runs: %w", err)
	}
	return runs, nil
}

func (c *Client) runs(ctx context.Context) ([]RunStatus, error) {
	notes, err := c.q.Notes(ctx, protocol.StateKey("*"))
	if err != nil {
		return nil, err
	}
	workers, err := workersOf(ctx, c.q)
	if err != nil {
		return nil, err
	}
	failed, err := c.failed(ctx, "*")
	if err != nil {
		return nil, err
	}
	var runs []RunStatus
	var states []wire.State
	for key, note := range notes {
		if s, err := wire.DecodeState(note.Value); err == nil { // one of a newer version is left out
			id := strings.TrimSuffix(strings.TrimPrefix(key, "r."), ".state")
			r := RunStatus{ID: id, Graph: s.Begin.Name, Began: s.Began}
			if !s.Began.IsZero() {
				r.For = c.q.Since(s.Began)
			}
			if s.Final() {
				r.For = max(0, r.For-note.Age) // its last change
			}
			runs, states = append(runs, r), append(states, s)
		}
	}
	err = jet.Each(len(runs), func(i int) (err error) {
		runs[i].Progress, err = c.progress(ctx, runs[i].ID, states[i], failed[runs[i].ID], workers)
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
