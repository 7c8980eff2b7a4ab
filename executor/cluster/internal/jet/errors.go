package jet

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// callTime bounds each call to the server. Arbitrary: a server that is not overloaded answers within milliseconds, and
// one that restarts, or elects a leader, within some seconds.
const callTime = 10 * time.Second

// tryTime bounds a write of records and messages, and the silence between the answers to a read. A server that restarts
// forgets what it was asked, and a caller that is told so tries again. Arbitrary.
const tryTime = 3 * time.Second

// explain says what failed and, where the server's words are few, what is to be done.
func (q *Queue) explain(what string, err error) error {
	if err == nil {
		return nil
	}
	if q.nc.IsClosed() && !errors.Is(err, nats.ErrConnectionClosed) { // a call that was under way has had no answer
		err = fmt.Errorf("%w: %w", err, nats.ErrConnectionClosed)
	}
	return fmt.Errorf("queue %s: %s: %w%s", q.c.Queue, what, err, hint(q.nc, err))
}

// Closed ends when the connection is closed: nothing of the queue can be reached any more.
func (q *Queue) Closed() context.Context { return q.reconnects.closed }

// ErrClosed says why the connection may have been closed, and what is to be done.
func (q *Queue) ErrClosed() error {
	return fmt.Errorf("queue %s: %w%s", q.c.Queue, nats.ErrConnectionClosed, whyClosed(q.nc))
}

// whyClosed is why a connection may have been closed. The client library does so by itself after a server has refused
// its credentials twice, however often it may reconnect.
func whyClosed(nc *nats.Conn) string {
	last := nc.LastError()
	for _, refused := range []error{nats.ErrAuthorization, nats.ErrAuthExpired, nats.ErrAuthRevoked,
		nats.ErrAccountAuthExpired} {
		if errors.Is(last, refused) {
			return fmt.Sprintf(": the server refuses its credentials (%v): connect with others, and begin anew with that "+
				"connection", last)
		}
	}
	if last != nil && nc.Opts.MaxReconnect >= 0 {
		return fmt.Sprintf(": the program has closed it, or its servers were away for too long (%v): "+
			"connect with nats.MaxReconnects(-1)", last)
	}
	return ": the program has closed it"
}

// Passes reports whether an error may pass by itself: a server restarts, or servers elect a leader.
func (q *Queue) Passes(err error) bool {
	if errors.Is(q.nc.LastError(), nats.ErrPermissionViolation) {
		return false
	}
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, nats.ErrNoResponders) ||
		errors.Is(err, jetstream.ErrJetStreamNotEnabled)
}

// hint is what may be behind err, "" if its text says so.
func hint(nc *nats.Conn, err error) string {
	switch {
	case errors.Is(err, nats.ErrConnectionClosed):
		return whyClosed(nc)
	case errors.Is(err, jetstream.ErrJetStreamNotEnabled), errors.Is(err, nats.ErrNoResponders):
		return ": JetStream does not answer: start the server with it (-js), " +
			"or wait until the servers of its cluster have elected a leader"
	case errors.Is(err, jetstream.ErrJetStreamNotEnabledForAccount):
		return ": give the account JetStream"
	case isAlone(err):
		return ": the server is alone: ask for one replica, or start three servers that know each other"
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, nats.ErrTimeout):
		// The server tells the connection, not the caller, that it may not publish: the call then has no answer.
		if last := nc.LastError(); errors.Is(last, nats.ErrPermissionViolation) {
			return fmt.Sprintf(": the user of the connection may not do this: %v", last)
		}
		if !nc.IsConnected() {
			return ": the connection to the server is down"
		}
	}
	return ""
}

// isAlone reports whether err is that of a server without others, which was asked for replicas.
func isAlone(err error) bool {
	const replicasNotSupported = 10074
	var api *jetstream.APIError
	return errors.As(err, &api) && api.ErrorCode == replicasNotSupported
}
