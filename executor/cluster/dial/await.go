package dial

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// tryEvery is how long Await waits before another try. Arbitrary: a person who looks at the log sees what is wrong, and
// a log that nobody looks at does not grow fast.
const tryEvery = 5 * time.Second

// Await is Connect for a program that may be started before its servers. It calls open with the connection, for what
// needs servers that have elected a leader. While there is no server, or no leader, it calls tell with the error, and
// tries again some seconds later, until ctx ends. Any other error ends it at once: a password that is wrong, a
// certificate, a permission. If it returns an error, the connection is closed.
func (s *Server) Await(
	ctx context.Context, name string, tell func(error), open func(*nats.Conn) error, opts ...nats.Option,
) (*nats.Conn, error) {
	return s.await(ctx, name, tell, open, tryEvery, opts...)
}

func (s *Server) await(
	ctx context.Context, name string, tell func(error), open func(*nats.Conn) error, every time.Duration,
	opts ...nats.Option,
) (*nats.Conn, error) {
	nc, err := again(ctx, tell, every, func() (*nats.Conn, bool, error) {
		nc, err := s.Connect(name, opts...)
		return nc, isAway(err), err
	})
	if err != nil {
		return nil, err
	}
	_, err = again(ctx, tell, every, func() (*nats.Conn, bool, error) {
		err := open(nc)
		return nc, passes(nc, err), err
	})
	if err != nil {
		nc.Close()
		return nil, err
	}
	return nc, nil
}

// again calls try until it has no error, or one that does not pass.
func again[T any](
	ctx context.Context, tell func(error), every time.Duration, try func() (v T, passes bool, err error),
) (T, error) {
	for {
		v, passes, err := try()
		if ctx.Err() != nil && err != nil {
			return v, context.Cause(ctx)
		}
		if err == nil || !passes {
			return v, err
		}
		tell(fmt.Errorf("%w; the next try is in %v", err, every))
		select {
		case <-ctx.Done():
			return v, context.Cause(ctx)
		case <-time.After(every):
		}
	}
}

// isAway reports whether a connection has failed because no server was there. A host that has no name yet is one: the
// names of containers come with them.
func isAway(err error) bool {
	if errors.Is(err, nats.ErrNoServers) || errors.Is(err, nats.ErrTimeout) || errors.Is(err, io.EOF) {
		return true
	}
	if errors.As(err, new(*net.DNSError)) {
		return true
	}
	var op *net.OpError
	if !errors.As(err, &op) {
		return false
	}
	return op.Op == "dial" || op.Op == "read" || op.Op == "write" // not "remote error", by which TLS refuses a client
}

// passes reports whether a call to the servers may have another answer later. A server does not answer what the user
// may not do, and tells the connection.
func passes(nc *nats.Conn, err error) bool {
	if errors.Is(nc.LastError(), nats.ErrPermissionViolation) {
		return false
	}
	return errors.Is(err, nats.ErrNoResponders) || errors.Is(err, nats.ErrTimeout) ||
		errors.Is(err, context.DeadlineExceeded) || errors.Is(err, jetstream.ErrJetStreamNotEnabled)
}

// hint is what to do about an error, "" if its text says so.
func hint(err error) string {
	switch {
	case errors.Is(err, nats.ErrNoServers):
		return ": nobody listens there"
	case errors.As(err, new(x509.UnknownAuthorityError)):
		return ": if the authority is your own, -ca has its file"
	case errors.Is(err, nats.ErrAuthorization), errors.Is(err, nats.ErrAuthExpired), errors.Is(err, nats.ErrAuthRevoked),
		errors.Is(err, nats.ErrAccountAuthExpired):
		return ": the server refuses the user: -nats, or NATS_URL, " +
			"must have the password, as in nats://USER:PASSWORD@HOST, or -creds must name a file with credentials that are valid"
	}
	return ""
}
