package cluster

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/magpie-go/magpie/executor/cluster/internal/protocol"
	"github.com/magpie-go/magpie/executor/cluster/internal/wire"
	"github.com/nats-io/nats.go"
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
func (h *Handle) Progress(ctx context.Context) (Progress, error) { return h.progress(ctx, new(tally)) }

// progress is Progress, with the failed attempts that were counted, if these are all.
func (h *Handle) progress(ctx context.Context, t *tally) (Progress, error) {
	p, err := h.look(ctx, t)
	if err != nil {
		return p, fmt.Errorf("cluster: progress of run %s: %w", h.id, err)
	}
	return p, nil
}

func (h *Handle) look(ctx context.Context, t *tally) (Progress, error) {
	state, err := protocol.Attach(ctx, h.client.q, h.id)
	if errors.Is(err, protocol.ErrUnknown) {
		return Progress{}, nil
	}
	if err != nil {
		return Progress{}, err
	}
	var workers []notice
	if !state.Final() {
		if workers, err = h.client.crew.lately(ctx); err != nil {
			return Progress{}, err
		}
	}
	failed, whole := t.count()
	if !whole || state.Final() { // a watch may be late, and the last progress is not
		if failed, err = h.failed(ctx); err != nil {
			return Progress{}, err
		}
	}
	return h.client.progress(ctx, h.id, state, failed, workers)
}

// failed returns how many attempts have brought no output.
func (h *Handle) failed(ctx context.Context) (int, error) {
	notes, err := h.client.q.Notes(ctx, protocol.TriesKeys(h.id))
	var t tally
	for key, note := range notes {
		t.note(key, note.Value)
	}
	return t.sum, err
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
		if p.Done, err = c.q.Count(ctx, protocol.OutputKeys(run)); err != nil {
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
// gives may pass, as while a server is away, and the loop may go on. It ends with ctx, and after the error
// [nats.ErrConnectionClosed], which does not pass. The least of every is 10 ms.
//
// Each time costs a few messages, whatever number of partitions the run has. The announcements of the workers are read
// once a second at most, for all watches of the client.
//
//	for p, err := range h.Watch(ctx, time.Second) {
//		…
//	}
func (h *Handle) Watch(ctx context.Context, every time.Duration) iter.Seq2[Progress, error] {
	return func(yield func(Progress, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		var failed tally
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			_, _ = h.end(ctx, &failed) // what it returns is seen by the next look
		}()
		defer func() { cancel(); <-ended }()
		over := ended
		for ctx.Err() == nil {
			p, err := h.progress(ctx, &failed)
			if ctx.Err() != nil || !yield(p, err) || err == nil && p.Ended || errors.Is(err, nats.ErrConnectionClosed) {
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
