package jet

import (
	"context"
	"errors"

	"github.com/nats-io/nats.go/jetstream"
)

// A Backlog is what waits in a queue.
type Backlog struct {
	Waiting uint64 // messages that are to be delivered
	Leased  uint64 // messages that are with workers, or wait for their delay
	Dead    uint64 // dead letters
}

// Backlog returns what waits.
func (q *Queue) Backlog(ctx context.Context) (b Backlog, err error) {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	b.Waiting, b.Leased, err = q.open(ctx)
	if err == nil {
		var dead jetstream.Stream
		if dead, err = q.js.Stream(ctx, q.deadStream()); err == nil {
			b.Dead = dead.CachedInfo().State.Msgs
		}
	}
	return b, q.explain("look at the queue", err)
}

// open returns how many messages of the work queue wait, and how many are leased. The consumers count them, and the
// stream those of classes that no worker has served yet. The stream may have others: a server that is killed may have
// noted that a message is acknowledged, and not have removed it. Nobody gets such a message, and it stays until it is
// too old.
func (q *Queue) open(ctx context.Context) (waiting, leased uint64, err error) {
	work, err := q.js.Stream(ctx, q.workStream())
	if err != nil {
		return 0, 0, err
	}
	all, err := work.Info(ctx, jetstream.WithSubjectFilter(q.work("*")))
	if err != nil {
		return 0, 0, err
	}
	unserved := all.State.Subjects
	consumers := work.ListConsumers(ctx)
	for c := range consumers.Info() {
		waiting += c.NumPending
		leased += uint64(c.NumAckPending)
		delete(unserved, c.Config.FilterSubject)
	}
	for _, n := range unserved {
		waiting += n
	}
	return waiting, leased, consumers.Err()
}

// A level is what the work stream has, and has had.
type level struct{ messages, last uint64 }

func (q *Queue) level(ctx context.Context) (level, error) {
	work, err := asked(ctx, func(ctx context.Context) (jetstream.Stream, error) {
		return q.js.Stream(ctx, q.workStream())
	})
	if err != nil {
		return level{}, err
	}
	s := work.CachedInfo().State
	return level{s.Msgs, s.LastSeq}, nil
}

// IsEmpty implements protocol.Stock. If the stream has messages, and has had the same at the last call, it asks whether
// they are open. A queue that is in use costs a message of a kilobyte.
func (q *Queue) IsEmpty(ctx context.Context) (bool, error) {
	empty, err := q.isEmpty(ctx)
	return empty, q.explain("look at the queue", err)
}

func (q *Queue) isEmpty(ctx context.Context) (bool, error) {
	now, err := q.level(ctx)
	if err != nil || now.messages == 0 {
		return err == nil, err
	}
	if was := q.was.Swap(&now); was == nil || *was != now {
		return false, nil
	}
	waiting, leased, err := q.open(ctx)
	if err != nil || waiting+leased > 0 {
		return false, err
	}
	// The consumers were not asked at one moment. A message that was published and one that was acknowledged meanwhile
	// would both be overlooked.
	again, err := q.level(ctx)
	return again == now, err
}

// remake makes the streams that the server has lost since the queue was opened, as they were. It reports whether it has
// made one.
func (q *Queue) remake(ctx context.Context) (made bool, err error) {
	for _, want := range q.streams() {
		_, err := asked(ctx, func(ctx context.Context) (jetstream.Stream, error) { return q.js.Stream(ctx, want.Name) })
		if errors.Is(err, jetstream.ErrStreamNotFound) {
			_, err = asked(ctx, func(ctx context.Context) (jetstream.Stream, error) { return q.stream(ctx, want) })
			made = made || err == nil
		}
		if err != nil {
			return made, err
		}
	}
	return made, nil
}
