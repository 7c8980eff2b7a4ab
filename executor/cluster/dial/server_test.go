package dial

import (
	"context"
	"errors"
	"flag"
	"io"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/require"

	"github.com/magpie-go/magpie/executor/cluster/embedded"
	"github.com/magpie-go/magpie/executor/cluster/internal/served"
)

// TestConnect: the flags reach a server with TLS and users, and the arguments of a process have them all. What is wrong
// is an error that says what to do, without the password.
func TestConnect(t *testing.T) {
	at, ca := served.Secure(t, "../setup")
	t.Setenv("NATS_URL", "tls://reports:secret@"+at)
	parsed := func(args ...string) *Server {
		s := new(Server)
		f := flag.NewFlagSet("", flag.ContinueOnError)
		s.AddFlags(f, "")
		require.NoError(t, f.Parse(args))
		return s
	}
	s := parsed("-ca", ca, "-inbox", "_INBOX_reports")
	require.Equal(t, s, parsed(s.Args()...))
	require.Equal(t, "NATS_URL="+s.URL, s.Env())
	nc, err := s.Connect("test")
	require.NoError(t, err)
	defer nc.Close()
	require.True(t, strings.HasPrefix(nc.NewRespInbox(), "_INBOX_reports."))
	require.Equal(t, "test", nc.Opts.Name)

	none := filepath.Join(t.TempDir(), "none")
	for text, args := range map[string][]string{
		"signed by unknown authority: if the authority is your own, -ca has its file": nil,
		"none": {"-ca", none},
		"no":   {"-ca", ca, "-creds", none},
		"Authorization Violation: the server refuses the user: -nats, or NATS_URL": {
			"-ca", ca, "-nats", "tls://reports:secrets@" + at},
		": nobody listens there": {"-nats", "nats://a:secret@127.0.0.1:1,nats://b:secret@127.0.0.1:1"},
		"the URL is malformed":   {"-nats", "nats://a:secret@127.0.0.1:%zz"},
	} {
		s := parsed(args...)
		_, err := s.Connect("test")
		require.ErrorContains(t, err, text)
		require.NotContains(t, err.Error(), "secret")
		require.ErrorContains(t, err, "connect to "+s.String())
	}
}

// TestString: an address is shown without what may be a password, also if that makes the URL malformed.
func TestString(t *testing.T) {
	for address, want := range map[string]string{
		"nats://a:secret@127.0.0.1:1,nats://c@h:1": "nats://…@127.0.0.1:1,nats://…@h:1",
		"a:secret@127.0.0.1:1,127.0.0.1:2":         "nats://…@127.0.0.1:1,nats://127.0.0.1:2",
		"nats://127.0.0.1:1/":                      "nats://127.0.0.1:1/",
		"nats://a:secret%2F%2C@127.0.0.1:1":        "nats://…@127.0.0.1:1",
		"nats://a:secret/x@127.0.0.1:1":            "…@127.0.0.1:1",
		"nats://a:12/secret@127.0.0.1:1":           "…@127.0.0.1:1",
		"nats://a:sec,secret@127.0.0.1:1":          "…@127.0.0.1:1",
		"nats://a:secret@secret@127.0.0.1:1":       "nats://…@127.0.0.1:1",
		"nats://a:x%secret@127.0.0.1:1":            "…@127.0.0.1:1",
	} {
		s := &Server{URL: address}
		require.Equal(t, want, s.String(), address)
		_, err := s.Connect("test", nats.Dialer(nil), nats.SetCustomDialer(nowhere{}))
		require.ErrorContains(t, err, "connect to "+want+": ", address)
		require.NotContains(t, err.Error(), "sec")
	}
}

// nowhere connects to nothing.
type nowhere struct{}

func (nowhere) Dial(string, string) (net.Conn, error) { return nil, errors.New("nowhere") }

// TestHelp: the help does not print the password of NATS_URL.
func TestHelp(t *testing.T) {
	t.Setenv("NATS_URL", "nats://a:secret@127.0.0.1")
	var s Server
	var out strings.Builder
	f := flag.NewFlagSet("", flag.ContinueOnError)
	f.SetOutput(&out)
	s.AddFlags(f, "the `URL`")
	f.PrintDefaults()
	require.Contains(t, out.String(), "-nats URL")
	require.NotContains(t, out.String(), "secret")
	require.Contains(t, s.URL, "secret")
}

const soon = time.Millisecond

// TestAwait: a program that is started before its server goes on when that is there, and is told meanwhile.
func TestAwait(t *testing.T) {
	first := served.Start(t, embedded.Config{Listen: "127.0.0.1:0"})
	s := &Server{URL: first.URL()}
	first.Stop()
	var told []error
	opened := 0
	nc, err := s.await(t.Context(), "test", func(err error) {
		if told = append(told, err); len(told) == 3 {
			served.Start(t, embedded.Config{Listen: strings.TrimPrefix(s.URL, "nats://")})
		}
	}, func(*nats.Conn) error {
		if opened++; opened < 3 {
			return nats.ErrNoResponders // as servers without a leader
		}
		return nil
	}, soon)
	require.NoError(t, err)
	defer nc.Close()
	require.ErrorContains(t, told[0], "connect to "+s.URL)
	require.ErrorContains(t, told[0], "the next try is in 1ms")
	require.ErrorIs(t, told[len(told)-1], nats.ErrNoResponders)
	require.Equal(t, 3, opened)
}

// TestDoesNotPass: what time does not mend ends the wait at once.
func TestDoesNotPass(t *testing.T) {
	at, ca := served.Secure(t, "../setup")
	never := func(err error) { t.Errorf("it waits after %v", err) }
	fine := func(*nats.Conn) error { return nil }
	for _, s := range []*Server{
		{URL: "tls://albums:wrong@" + at, CA: ca},
		{URL: "tls://albums:secret@" + at},
		{URL: "nats://127.0.0.1:%zz"},
		{URL: "nats://127.0.0.1:1", CA: filepath.Join(t.TempDir(), "none")},
	} {
		_, err := s.await(t.Context(), "test", never, fine, soon)
		require.ErrorContains(t, err, "connect to ")
	}
	s := &Server{URL: "tls://reports:secret@" + at, CA: ca}
	quiet := nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {})
	_, err := s.await(t.Context(), "test", never, func(nc *nats.Conn) error {
		_, err := nc.SubscribeSync("other")
		require.NoError(t, err)
		require.NoError(t, nc.FlushTimeout(time.Minute))
		require.Eventually(t, func() bool { return nc.LastError() != nil }, time.Minute, time.Millisecond)
		return context.DeadlineExceeded
	}, soon, quiet)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	broken := errors.New("broken")
	_, err = s.await(t.Context(), "test", never, func(*nats.Conn) error { return broken }, soon)
	require.ErrorIs(t, err, broken)
}

// TestAwaitEnds: the end of the context ends the wait.
func TestAwaitEnds(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	s := &Server{URL: "nats://127.0.0.1:1"}
	_, err := s.Await(ctx, "test", func(error) { cancel(io.EOF) }, nil)
	require.ErrorIs(t, err, io.EOF)
}
