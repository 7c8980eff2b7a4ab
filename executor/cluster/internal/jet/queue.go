// Package jet is the Store of package protocol on NATS JetStream, and what a worker needs besides: deliveries, and a
// watch of the states of runs.
//
// A queue is four streams:
//
//	magpie-work-<queue>     messages for workers; each is removed when it is acknowledged
//	KV_magpie-<queue>       records; a bucket as the key-value clients of NATS know it
//	magpie-objects-<queue>  plans and large values, in chunks
//	magpie-dead-<queue>     messages that were given up
package jet

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/magpie-go/magpie/executor/cluster/internal/wire"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Config says what a queue is like. Its streams are made by the first who opens it, and keep what that one said.
type Config struct {
	Queue    string        // a token
	Replicas int           // how many servers hold each stream
	Keep     time.Duration // how long records are kept after their last change
	Lease    time.Duration // how long a delivery is left to a worker that does not renew it
	Look     time.Duration // how often a watch looks whether the records are those that it has read; 0: defaultLook
}

// defaultLook is arbitrary: a look is a message of a kilobyte, and records are gone seldom.
const defaultLook = 30 * time.Second

// A Queue is the streams of a queue. Config and streams do not change after Open. Any thread.
type Queue struct {
	c          Config
	nc         *nats.Conn
	js         jetstream.JetStream
	kv         jetstream.KeyValue // the records, for watchers
	gets       *reader
	reconnects *reconnects
	clock      clock
	fresh      recent[string, time.Time] // the last PutObject of a content hash
	was        atomic.Pointer[level]     // of the work stream, at the last IsEmpty
}

// freshObjects is arbitrary: an object that was forgotten is written again.
const freshObjects = 1024

// Open opens a queue on a connection, and makes the streams that are missing.
func Open(ctx context.Context, nc *nats.Conn, c Config) (*Queue, error) {
	if !wire.Token(c.Queue) {
		return nil, fmt.Errorf("the name of the queue is %q: it must have letters, digits, - and _, at most 100 of them",
			c.Queue)
	}
	js, err := jetstream.New(nc)
	if err != nil {
		return nil, err
	}
	c.Look = cmp.Or(c.Look, defaultLook)
	q := &Queue{c: c, nc: nc, js: js, fresh: recent[string, time.Time]{size: freshObjects}}
	for _, sc := range q.streams() {
		if err := q.ensure(ctx, sc); err != nil {
			return nil, q.explain("open stream "+sc.Name, err)
		}
	}
	q.kv, err = asked(ctx, func(ctx context.Context) (jetstream.KeyValue, error) { return js.KeyValue(ctx, q.bucket()) })
	if err != nil {
		return nil, q.explain("open the records", err)
	}
	if q.gets, err = newReader(nc); err != nil {
		return nil, q.explain("read answers", err)
	}
	q.reconnects = newReconnects(nc, q.fresh.clear) // the server may have another store
	return q, nil
}

// Close gives back what Open has taken. The connection stays open.
func (q *Queue) Close() {
	q.reconnects.close()
	q.gets.close()
}

func (q *Queue) workStream() string    { return "magpie-work-" + q.c.Queue }
func (q *Queue) bucket() string        { return "magpie-" + q.c.Queue }
func (q *Queue) recordStream() string  { return "KV_" + q.bucket() }
func (q *Queue) objectStream() string  { return "magpie-objects-" + q.c.Queue }
func (q *Queue) deadStream() string    { return "magpie-dead-" + q.c.Queue }
func (q *Queue) work(cl string) string { return "magpie." + q.c.Queue + ".work." + cl }
func (q *Queue) record(key string) string {
	return "$KV." + q.bucket() + "." + key
}
func (q *Queue) object(hash string, chunk int) string {
	return fmt.Sprintf("magpie.%s.object.%s.%d", q.c.Queue, hash, chunk)
}
func (q *Queue) dead() string { return "magpie." + q.c.Queue + ".dead" }

// duplicates is how long the server looks for a message with the same ID. It keeps all IDs of that time in memory, and
// a publish that is tried again comes within seconds.
const duplicates = 10 * time.Second

// leaseNote is where the work stream has the lease of the queue: the server has one for each consumer only.
const leaseNote = "magpie-lease"

// streams returns what the streams are made as.
func (q *Queue) streams() []jetstream.StreamConfig {
	return []jetstream.StreamConfig{{
		Name:        q.workStream(),
		Description: "messages for the workers of a queue of Magpie",
		Subjects:    []string{q.work("*")},
		Retention:   jetstream.WorkQueuePolicy,
		MaxAge:      2 * q.c.Keep, // the state of the run is gone long before
		Duplicates:  duplicates,
		Replicas:    q.c.Replicas,
		Metadata:    map[string]string{leaseNote: q.c.Lease.String()},
	}, {
		Name:              q.recordStream(),
		Description:       "records of a queue of Magpie",
		Subjects:          []string{q.record(">")},
		MaxMsgsPerSubject: 1,
		MaxAge:            q.c.Keep,
		Duplicates:        min(duplicates, q.c.Keep),
		Discard:           jetstream.DiscardNew,
		AllowRollup:       true,
		AllowDirect:       true,
		AllowMsgTTL:       true, // of the announcements of workers
		DenyDelete:        true,
		Replicas:          q.c.Replicas,
	}, {
		Name:              q.objectStream(),
		Description:       "plans and large values of a queue of Magpie",
		Subjects:          []string{"magpie." + q.c.Queue + ".object.>"},
		MaxMsgsPerSubject: 1,
		MaxAge:            2 * q.c.Keep, // a record that names an object is kept for less
		Duplicates:        min(duplicates, q.c.Keep),
		AllowDirect:       true,
		Replicas:          q.c.Replicas,
	}, {
		Name:        q.deadStream(),
		Description: "messages that a queue of Magpie has given up, kept until they are removed by hand",
		Subjects:    []string{q.dead()},
		Duplicates:  duplicates,
		Replicas:    q.c.Replicas,
	}}
}

// ensure makes a stream if it is missing, and returns an error if a stream of that name is of another kind. Servers
// that have not elected a leader yet do not answer, and are asked again.
func (q *Queue) ensure(ctx context.Context, want jetstream.StreamConfig) error {
	s, err := asked(ctx, func(ctx context.Context) (jetstream.Stream, error) { return q.stream(ctx, want) })
	if err != nil {
		return err
	}
	info := s.CachedInfo()
	q.clock.set(info.TimeStamp)
	switch has := info.Config; {
	case has.Retention != want.Retention || has.MaxMsgsPerSubject > 0 && want.MaxMsgsPerSubject == 0,
		want.MaxMsgsPerSubject == 1 && has.MaxMsgsPerSubject != 1, has.AllowDirect != want.AllowDirect,
		len(has.Subjects) != 1 || has.Subjects[0] != want.Subjects[0]:
		return errors.New("a stream of that name exists, and is not one of Magpie")
	case want.Retention == jetstream.WorkQueuePolicy:
		q.c.Replicas = has.Replicas
		if lease, err := time.ParseDuration(has.Metadata[leaseNote]); err == nil {
			q.c.Lease = lease
		}
	case want.AllowMsgTTL:
		q.c.Keep = has.MaxAge
	}
	return nil
}

// asked calls f, which asks the server something, and again while it is not answered: a server that is killed forgets
// the question, and the client library waits for the answer as long as its context lasts.
func asked[T any](ctx context.Context, f func(context.Context) (T, error)) (answer T, err error) {
	limit, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	for {
		try, cancel := context.WithTimeout(limit, tryTime)
		answer, err = f(try)
		cancel()
		if !errors.Is(err, context.DeadlineExceeded) || limit.Err() != nil {
			return answer, err
		}
	}
}

// stream opens a stream, and makes it if it is missing.
func (q *Queue) stream(ctx context.Context, want jetstream.StreamConfig) (jetstream.Stream, error) {
	s, err := q.js.Stream(ctx, want.Name)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		s, err = q.js.CreateStream(ctx, want)
		if errors.Is(err, jetstream.ErrStreamNameAlreadyInUse) { // another one has made it meanwhile
			s, err = q.js.Stream(ctx, want.Name)
		}
	}
	return s, err
}

// Config is what the queue is like, as its first user has made it.
func (q *Queue) Config() Config { return q.c }

// StreamNames are the names of its streams.
func (q *Queue) StreamNames() (names []string) {
	for _, s := range q.streams() {
		names = append(names, s.Name)
	}
	return names
}

// Keep is how long records are kept after their last change.
func (q *Queue) Keep() time.Duration { return q.c.Keep }

// Since is how long ago t was by the clock of the server, at least.
func (q *Queue) Since(t time.Time) time.Duration { return q.clock.since(t) }

// Flush returns when the server has what was sent before.
func (q *Queue) Flush(ctx context.Context) error {
	return q.explain("flush", q.nc.FlushWithContext(ctx))
}
