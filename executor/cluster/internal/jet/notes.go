package jet

import (
	"context"
	"errors"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// A note is a record that is written without regard to what was there: what a worker says of itself, or which functions
// a class needs.

// Note writes a note. The server removes it after the time ttl, if that is not 0.
func (q *Queue) Note(ctx context.Context, key string, value []byte, ttl time.Duration) error {
	var opts []jetstream.PublishOpt
	if ttl > 0 {
		opts = append(opts, jetstream.WithMsgTTL(ttl))
	}
	return q.explain("write note "+key, q.publish(ctx, &nats.Msg{Subject: q.record(key), Data: value}, opts...))
}

// A Note is a note as Notes finds it.
type Note struct {
	Value []byte
	Age   time.Duration // since it was written, at least
}

// Notes returns the notes whose keys match a pattern, by key. It may read any records.
func (q *Queue) Notes(ctx context.Context, pattern string) (map[string]Note, error) {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	notes := map[string]Note{}
	found := false
	stop, err := q.follow(ctx, pattern, func(e jetstream.KeyValueEntry) {
		notes[e.Key()] = Note{e.Value(), q.clock.since(e.Created())}
	}, func() { found = true; cancel() })
	if err != nil {
		return nil, err
	}
	<-ctx.Done()
	stop()
	if !found {
		return nil, q.explain("read notes "+pattern, ctx.Err())
	}
	return notes, nil
}

// Follow calls f with the notes whose keys match a pattern, those there are and those to come, until stop is called. It
// goes on after a restart of the server, and then begins with those there are again.
func (q *Queue) Follow(ctx context.Context, pattern string, f func(key string, value []byte)) (stop func(), err error) {
	return q.follow(ctx, pattern, func(e jetstream.KeyValueEntry) { f(e.Key(), e.Value()) }, func() {})
}

// follow is Follow, and calls all after the notes that there are.
func (q *Queue) follow(ctx context.Context, pattern string, f func(jetstream.KeyValueEntry), all func()) (
	stop func(), err error) {
	kv, err := q.records(ctx)
	if err != nil {
		return nil, q.explain("follow "+pattern, err)
	}
	stop, err = q.watch(ctx, func(ctx context.Context) (jetstream.KeyWatcher, error) {
		return kv.Watch(context.WithoutCancel(ctx), pattern, jetstream.IgnoreDeletes())
	}, func(e jetstream.KeyValueEntry) {
		if e == nil {
			all()
		} else {
			f(e)
		}
	})
	return stop, q.explain("follow "+pattern, err)
}

// Forget removes a note.
func (q *Queue) Forget(ctx context.Context, key string) error {
	return q.purge(ctx, q.record(key))
}

// purge removes the messages of a subject from the records.
func (q *Queue) purge(ctx context.Context, subject string) error {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	s, err := q.js.Stream(ctx, q.recordStream())
	if err == nil {
		err = s.Purge(ctx, jetstream.WithPurgeSubject(subject))
	}
	return q.explain("remove "+subject, err)
}

// Count returns how many records have keys that match a pattern.
func (q *Queue) Count(ctx context.Context, pattern string) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	s, err := q.js.Stream(ctx, q.recordStream())
	if err != nil {
		return 0, q.explain("count "+pattern, err)
	}
	info, err := s.Info(ctx, jetstream.WithSubjectFilter(q.record(pattern)))
	if err != nil {
		return 0, q.explain("count "+pattern, err)
	}
	return len(info.State.Subjects), nil
}

// A Backlog is what waits in a queue.
type Backlog struct {
	Messages uint64 // in the work queue, those that are leased included
	Leased   int    // to workers
	Dead     uint64 // dead letters
}

// Backlog returns what waits.
func (q *Queue) Backlog(ctx context.Context) (b Backlog, err error) {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	work, err := q.js.Stream(ctx, q.workStream())
	if err != nil {
		return b, q.explain("look at the queue", err)
	}
	b.Messages = work.CachedInfo().State.Msgs
	consumers := work.ListConsumers(ctx)
	for c := range consumers.Info() {
		b.Leased += c.NumAckPending
	}
	dead, err := q.js.Stream(ctx, q.deadStream())
	if err := errors.Join(consumers.Err(), err); err != nil {
		return b, q.explain("look at the queue", err)
	}
	b.Dead = dead.CachedInfo().State.Msgs
	return b, nil
}
