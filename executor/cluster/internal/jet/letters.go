package jet

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strconv"
	"strings"
	"time"

	"github.com/magpie-go/magpie/executor/cluster/internal/protocol"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Headers of dead letters.
const (
	whyHeader        = "Magpie-Why"
	deliveriesHeader = "Magpie-Deliveries"
	objectHeader     = "Magpie-Object" // the message was too large for a letter: its content hash
)

// maxWhy is how many bytes of a reason a letter has. Arbitrary.
const maxWhy = 4 << 10

// Bury implements protocol.Store.
func (q *Queue) Bury(ctx context.Context, l protocol.Letter) error {
	m := nats.NewMsg(q.dead())
	why := strings.Map(func(r rune) rune {
		if r < ' ' {
			return ' '
		}
		return r
	}, l.Why)
	m.Header.Set(whyHeader, why[:min(len(why), maxWhy)])
	m.Header.Set(deliveriesHeader, strconv.FormatUint(l.Deliveries, 10))
	m.Data = l.Raw
	if int64(len(l.Raw)) > q.nc.MaxPayload()-2*maxWhy {
		hash, err := q.PutObject(ctx, l.Raw)
		if err != nil {
			return fmt.Errorf("bury a large message: %w", err)
		}
		m.Header.Set(objectHeader, hash)
		m.Data = nil
	}
	return q.explain("bury a message", q.publish(ctx, m, ids(l.ID)...))
}

// A Letter is a dead letter.
type Letter struct {
	protocol.Letter           // without its ID; Deliveries is 0 if they were not recorded
	Number          uint64    // in the stream
	Buried          time.Time // when, by the clock of the server
}

// Letters returns the dead letters, the oldest first. A message that was too large for its letter, and was removed
// since, is empty. An error is the last.
func (q *Queue) Letters(ctx context.Context) iter.Seq2[Letter, error] {
	return func(yield func(Letter, error) bool) {
		stream, err := asked(ctx, func(ctx context.Context) (jetstream.Stream, error) {
			return q.js.Stream(ctx, q.deadStream())
		})
		err = q.explain("read the dead letters", err)
		for next := uint64(1); err == nil; {
			var l Letter
			l, err = q.letter(ctx, stream, next)
			if errors.Is(err, jetstream.ErrMsgNotFound) || err == nil && !yield(l, nil) {
				return
			}
			next = l.Number + 1
		}
		yield(Letter{}, err)
	}
}

// letter returns the first letter from a number on.
func (q *Queue) letter(ctx context.Context, stream jetstream.Stream, from uint64) (Letter, error) {
	m, err := asked(ctx, func(ctx context.Context) (*jetstream.RawStreamMsg, error) {
		return stream.GetMsg(ctx, from, jetstream.WithGetMsgSubject(q.dead()))
	})
	if err != nil {
		return Letter{}, q.explain("read a dead letter", err)
	}
	l := Letter{protocol.Letter{Raw: m.Data, Why: m.Header.Get(whyHeader)}, m.Sequence, m.Time}
	l.Deliveries, _ = strconv.ParseUint(m.Header.Get(deliveriesHeader), 10, 64) // an older worker has written none
	if hash := m.Header.Get(objectHeader); hash != "" {
		l.Raw, err = q.GetObject(ctx, hash)
		if errors.Is(err, protocol.ErrMissing) {
			err = nil
		}
	}
	return l, err
}

// ErrNoLetter: there is no dead letter with that number.
var ErrNoLetter = errors.New("there is no such letter")

// RemoveLetter removes a dead letter.
func (q *Queue) RemoveLetter(ctx context.Context, number uint64) error {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	stream, err := q.js.Stream(ctx, q.deadStream())
	if number == 0 {
		err = ErrNoLetter
	}
	if err == nil {
		_, err = stream.GetMsg(ctx, number)
	}
	if err == nil {
		err = stream.DeleteMsg(ctx, number)
	}
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		err = ErrNoLetter
	}
	return q.explain(fmt.Sprintf("remove letter %d", number), err)
}
