package jet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
)

// A reader reads the last messages of many subjects of a stream with one request. The client library of this version
// has no such call.
type reader struct {
	nc    *nats.Conn
	inbox string
	sub   *nats.Subscription

	mu   sync.Mutex
	next uint64
	open map[string]chan *nats.Msg // answers that are awaited, by the last token of the reply subject
}

// batch is how many subjects one request asks for. The server refuses more than 1,024.
const batch = 512

// errAnswer: the server has answered otherwise than it should.
var errAnswer = errors.New("unexpected answer of the server")

func newReader(nc *nats.Conn) (*reader, error) {
	r := &reader{nc: nc, inbox: nc.NewInbox(), open: map[string]chan *nats.Msg{}}
	sub, err := nc.Subscribe(r.inbox+".*", r.deliver)
	if err != nil {
		return nil, err
	}
	r.sub = sub
	return r, sub.SetPendingLimits(-1, -1) // what is under way is bounded by the calls
}

func (r *reader) close() { _ = r.sub.Unsubscribe() } // fails if the connection is closed, and then it is gone too

// deliver hands an answer to the call that awaits it. A call has room for all the answers that the server may send.
func (r *reader) deliver(m *nats.Msg) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if c := r.open[m.Subject[len(r.inbox)+1:]]; c != nil {
		select {
		case c <- m:
		default: // more answers than the protocol has: an answer is lacking then, and the call times out
		}
	}
}

// last calls found with the last message of each of the subjects that has one, in any order. It takes as long as
// answers come: many large ones take a while.
func (r *reader) last(ctx context.Context, stream string, subjects []string, found func(subject string, seq uint64,
	data []byte) error) error {
	for len(subjects) > 0 {
		n := min(batch, len(subjects))
		if err := r.batch(ctx, stream, subjects[:n], found); err != nil {
			return err
		}
		subjects = subjects[n:]
	}
	return nil
}

// batch does what last does, for a few subjects.
func (r *reader) batch(ctx context.Context, stream string, subjects []string, found func(string, uint64, []byte) error,
) error {
	answers := make(chan *nats.Msg, len(subjects)+1)
	r.mu.Lock()
	r.next++
	token := strconv.FormatUint(r.next, 36)
	r.open[token] = answers
	r.mu.Unlock()
	defer func() {
		r.mu.Lock()
		delete(r.open, token)
		r.mu.Unlock()
	}()
	request, err := json.Marshal(map[string][]string{"multi_last": subjects})
	if err != nil {
		return err
	}
	if err := r.nc.PublishRequest("$JS.API.DIRECT.GET."+stream, r.inbox+"."+token, request); err != nil {
		return err
	}
	seen := map[string]bool{}
	silence := time.NewTimer(tryTime)
	defer silence.Stop()
	for {
		var m *nats.Msg
		select {
		case m = <-answers:
			silence.Reset(tryTime)
		case <-ctx.Done():
			return ctx.Err()
		case <-silence.C:
			return context.DeadlineExceeded
		}
		switch status := m.Header.Get("Status"); status {
		case "":
			subject := m.Header.Get("Nats-Subject")
			seq, err := strconv.ParseUint(m.Header.Get("Nats-Sequence"), 10, 64)
			if err != nil {
				return fmt.Errorf("%w: sequence %q", errAnswer, m.Header.Get("Nats-Sequence"))
			}
			seen[subject] = true
			if err := found(subject, seq, m.Data); err != nil {
				return err
			}
		case "404":
			// No subject has a message. Or one was replaced while the server looked, and some were sent.
			if !strings.Contains(m.Header.Get("Description"), "No Results") {
				return fmt.Errorf("%w: %s", errAnswer, m.Header.Get("Description"))
			}
			return nil
		case "204":
			if m.Header.Get("Nats-Num-Pending") == "0" {
				return nil
			}
			// The answer had too many bytes. What it lacks is asked for.
			var rest []string
			for _, s := range subjects {
				if !seen[s] {
					rest = append(rest, s)
				}
			}
			if len(seen) == 0 {
				return fmt.Errorf("%w: no message, and some are pending", errAnswer)
			}
			return r.batch(ctx, stream, rest, found)
		case "503":
			return nats.ErrNoResponders
		default:
			return fmt.Errorf("%w: %s %s", errAnswer, status, m.Header.Get("Description"))
		}
	}
}
