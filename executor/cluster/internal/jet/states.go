package jet

import (
	"context"
	"strings"
	"sync"

	"github.com/magpie-go/magpie/executor/cluster/internal/protocol"
	"github.com/magpie-go/magpie/executor/cluster/internal/wire"
	"github.com/nats-io/nats.go/jetstream"
)

// States implements protocol.States. It also is the Store of a worker, and so learns the states that the worker reads.
type States struct {
	*Queue
	stop  func()
	known recent[string, protocol.Record]

	mu    sync.Mutex
	until map[string]map[*context.CancelCauseFunc]struct{} // by run
	store uint64                                           // how often the records may have become others
}

// knownRuns is arbitrary: a state that was forgotten is read again.
const knownRuns = 4096

// Watch begins to watch the states of runs. report is told when it begins again because the server has lost records.
func (q *Queue) Watch(ctx context.Context, report func(error)) (*States, error) {
	s := newStates(q)
	var at place
	ever := context.WithoutCancel(ctx) // a watcher lasts as long as its context
	var err error
	s.stop, err = q.watch(ctx, func(now place) (jetstream.KeyWatcher, error) {
		s.forget()
		switch {
		case at.made.IsZero():
			at = now
		case at.isGone(now):
			at = place{made: now.made}
			report(q.explain("watch the states", errGone))
		}
		return q.kv.Watch(ever, protocol.StateKey("*"), jetstream.ResumeFromRevision(at.seen+1))
	}, func(e jetstream.KeyValueEntry) {
		if e == nil {
			return
		}
		at.seen = e.Revision()
		if e.Operation() == jetstream.KeyValuePut {
			s.saw(s.stores(), e.Key(), protocol.Record{Value: e.Value(), Revision: e.Revision()})
		}
	})
	if err != nil {
		return nil, q.explain("watch the states", err)
	}
	return s, nil
}

func newStates(q *Queue) *States {
	return &States{
		Queue: q,
		known: recent[string, protocol.Record]{size: knownRuns},
		until: map[string]map[*context.CancelCauseFunc]struct{}{},
	}
}

// forget forgets what is known: it may be of records that are gone.
func (s *States) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.store++
	s.known.clear()
}

func (s *States) stores() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.store
}

// Stop ends the watch.
func (s *States) Stop() { s.stop() }

// Get is Get of the Queue. It notes the states of runs.
func (s *States) Get(ctx context.Context, keys ...string) ([]protocol.Record, error) {
	store := s.stores()
	found, err := s.Queue.Get(ctx, keys...)
	for i := range found {
		if found[i].Revision != 0 {
			s.saw(store, keys[i], found[i])
		}
	}
	return found, err
}

// Known implements protocol.States.
func (s *States) Known(run string) protocol.Record {
	r, _ := s.known.get(run)
	return r
}

// Until implements protocol.States.
func (s *States) Until(ctx context.Context, run string) (context.Context, context.CancelFunc) {
	until, cancel := context.WithCancelCause(ctx)
	s.mu.Lock()
	if s.until[run] == nil {
		s.until[run] = map[*context.CancelCauseFunc]struct{}{}
	}
	s.until[run][&cancel] = struct{}{}
	s.mu.Unlock()
	if final(s.Known(run)) { // it was seen before this context was there to be cancelled
		cancel(protocol.ErrEnded)
	}
	return until, func() {
		s.mu.Lock()
		if delete(s.until[run], &cancel); len(s.until[run]) == 0 {
			delete(s.until, run)
		}
		s.mu.Unlock()
		cancel(context.Canceled)
	}
}

// saw notes the record of a key, if it is the state of a run, and of the store that there is: a record of an earlier
// one may have a later revision.
func (s *States) saw(store uint64, key string, r protocol.Record) {
	run, isState := strings.CutSuffix(strings.TrimPrefix(key, "r."), ".state")
	if !isState || key != protocol.StateKey(run) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if store != s.store {
		return
	}
	s.known.put(run, r, func(has protocol.Record) bool { return has.Revision >= r.Revision })
	if !final(r) {
		return
	}
	for cancel := range s.until[run] {
		(*cancel)(protocol.ErrEnded)
	}
}

// final reports whether a record is a state that does not change any more.
func final(r protocol.Record) bool {
	if r.Revision == 0 {
		return false
	}
	state, err := wire.DecodeState(r.Value)
	return err == nil && state.Final()
}
