package jet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/magpie-go/magpie/executor/cluster/internal/protocol"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Get implements protocol.Store. The records that change are read at the leader if there are replicas, which may be
// behind.
func (q *Queue) Get(ctx context.Context, keys ...string) ([]protocol.Record, error) {
	found := make([]protocol.Record, len(keys))
	index := make(map[string]int, len(keys))
	subjects := make([]string, 0, len(keys))
	for i, key := range keys {
		if q.c.Replicas > 1 && protocol.Changes(key) {
			var err error
			if found[i], err = q.leader(ctx, key); err != nil {
				return nil, q.explain("read record "+key, err)
			}
			continue
		}
		subject := q.record(key)
		index[subject] = i
		subjects = append(subjects, subject)
	}
	err := q.gets.last(ctx, q.recordStream(), subjects, func(subject string, seq uint64, data []byte) error {
		i, asked := index[subject]
		if !asked {
			return fmt.Errorf("%w: subject %q", errAnswer, subject)
		}
		found[i] = protocol.Record{Value: data, Revision: seq}
		return nil
	})
	if err != nil {
		return nil, q.explain("read records", err)
	}
	return found, nil
}

// leader reads a record where it is written.
func (q *Queue) leader(ctx context.Context, key string) (protocol.Record, error) {
	ctx, cancel := context.WithTimeout(ctx, tryTime)
	defer cancel()
	request, err := json.Marshal(map[string]string{"last_by_subj": q.record(key)})
	if err != nil {
		return protocol.Record{}, err
	}
	m, err := q.nc.RequestWithContext(ctx, "$JS.API.STREAM.MSG.GET."+q.recordStream(), request)
	if err != nil {
		return protocol.Record{}, err
	}
	var answer struct {
		Error   *jetstream.APIError `json:"error"`
		Message struct {
			Seq  uint64 `json:"seq"`
			Data []byte `json:"data"`
		} `json:"message"`
	}
	if err := json.Unmarshal(m.Data, &answer); err != nil {
		return protocol.Record{}, fmt.Errorf("%w: %w", errAnswer, err)
	}
	switch {
	case answer.Error == nil:
		return protocol.Record{Value: answer.Message.Data, Revision: answer.Message.Seq}, nil
	case answer.Error.ErrorCode == jetstream.JSErrCodeMessageNotFound:
		return protocol.Record{}, nil
	}
	return protocol.Record{}, answer.Error
}

// Create implements protocol.Store.
func (q *Queue) Create(ctx context.Context, key string, value []byte) error {
	return q.write(ctx, key, value, 0, protocol.ErrExists)
}

// Update implements protocol.Store.
func (q *Queue) Update(ctx context.Context, key string, value []byte, revision uint64) error {
	return q.write(ctx, key, value, revision, protocol.ErrConflict)
}

// write writes a record whose last revision is that one, 0 if there is none, and returns wrong if it is not.
func (q *Queue) write(ctx context.Context, key string, value []byte, revision uint64, wrong error) error {
	err := q.publish(ctx, &nats.Msg{Subject: q.record(key), Data: value},
		jetstream.WithExpectLastSequencePerSubject(revision))
	var api jetstream.JetStreamError
	if errors.As(err, &api) && api.APIError() != nil {
		switch api.APIError().ErrorCode {
		case jetstream.JSErrCodeStreamWrongLastSequence, jetstream.JSErrCodeStreamWrongLastSequenceConstant:
			return wrong
		}
	}
	return q.explain("write record "+key, err)
}

// publish appends a message to the stream of its subject. If the server has lost the stream, publish makes it again: a
// worker announces itself every two seconds, so a queue with workers is there again soon.
func (q *Queue) publish(ctx context.Context, m *nats.Msg, opts ...jetstream.PublishOpt) error {
	err := q.append(ctx, m, opts...)
	if !errors.Is(err, jetstream.ErrNoStreamResponse) {
		return err
	}
	if made, wrong := q.remake(ctx); wrong != nil || !made {
		return err // JetStream is away, or a stream has no leader
	}
	return q.append(ctx, m, opts...)
}

func (q *Queue) append(ctx context.Context, m *nats.Msg, opts ...jetstream.PublishOpt) error {
	ctx, cancel := context.WithTimeout(ctx, tryTime)
	defer cancel()
	_, err := q.js.PublishMsg(ctx, m, opts...)
	return err
}
