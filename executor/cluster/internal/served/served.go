// Package served starts servers for the tests of this module.
package served

import (
	"net"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/magpie-go/magpie/executor/cluster/embedded"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/require"
)

// A Server is a server that may be stopped, and started again on its store directory, while clients are connected.
type Server struct {
	t   testing.TB
	c   embedded.Config
	now atomic.Pointer[embedded.Server]
}

// Start starts a server that is stopped with the test.
func Start(t testing.TB, c embedded.Config) *Server {
	t.Helper()
	if c.Dir == "" {
		c.Dir = t.TempDir()
	}
	s := &Server{t: t, c: c}
	s.Again()
	t.Cleanup(s.Stop)
	return s
}

// Again starts a server that was stopped.
func (s *Server) Again() {
	s.t.Helper()
	es, err := embedded.Start(s.t.Context(), s.c)
	require.NoError(s.t, err)
	s.now.Store(es)
}

// Stop stops the server, if it runs.
func (s *Server) Stop() {
	if es := s.now.Swap(nil); es != nil {
		es.Close()
	}
}

// Lose stops the server, and starts it again without what it has stored.
func (s *Server) Lose() {
	s.t.Helper()
	s.Stop()
	require.NoError(s.t, os.RemoveAll(s.c.Dir))
	s.Again()
}

// InProcessConn is of the server that runs.
func (s *Server) InProcessConn() (net.Conn, error) {
	if es := s.now.Load(); es != nil {
		return es.InProcessConn()
	}
	return nil, net.ErrClosed
}

// Conn connects a client that reconnects for ever, and is closed with the test.
func (s *Server) Conn(opts ...nats.Option) *nats.Conn {
	s.t.Helper()
	all := append([]nats.Option{nats.InProcessServer(s), nats.MaxReconnects(-1), nats.Timeout(time.Minute),
		nats.ReconnectWait(10 * time.Millisecond)}, opts...)
	nc, err := nats.Connect("", all...)
	require.NoError(s.t, err)
	s.t.Cleanup(nc.Close)
	return nc
}

// Other starts a server with options that this package's embedded servers do not have. It listens if opts has a host.
func Other(t testing.TB, opts *server.Options) *server.Server {
	t.Helper()
	opts.NoSigs, opts.NoLog, opts.StoreDir = true, true, t.TempDir()
	if opts.DontListen = opts.Host == ""; !opts.DontListen {
		opts.Port = server.RANDOM_PORT
	}
	return start(t, opts)
}

// Again stops a server of Other, and starts one with the options opts in its place: on its store, and where it listens.
func Again(t testing.TB, ns *server.Server, opts *server.Options) *server.Server {
	t.Helper()
	if a, ok := ns.Addr().(*net.TCPAddr); ok {
		opts.Port = a.Port
	}
	ns.Shutdown()
	ns.WaitForShutdown()
	return start(t, opts)
}

// start starts a server that is stopped with the test.
func start(t testing.TB, opts *server.Options) *server.Server {
	t.Helper()
	ns, err := server.NewServer(opts)
	require.NoError(t, err)
	go ns.Start()
	t.Cleanup(func() { ns.Shutdown(); ns.WaitForShutdown() })
	for !ns.ReadyForConnections(time.Second) {
		require.NoError(t, t.Context().Err())
	}
	return ns
}

// Freezable connects a client as Conn does. While it is frozen, nothing passes between it and the server.
func (s *Server) Freezable(opts ...nats.Option) (nc *nats.Conn, freeze func(bool)) {
	s.t.Helper()
	gate := &sync.RWMutex{}
	opts = append(opts, nats.InProcessServer(&frozen{s, gate}))
	return s.Conn(opts...), func(on bool) {
		if on {
			gate.Lock()
		} else {
			gate.Unlock()
		}
	}
}

// A frozen is a server whose connections wait for the gate.
type frozen struct {
	*Server
	gate *sync.RWMutex
}

func (f *frozen) InProcessConn() (net.Conn, error) {
	c, err := f.Server.InProcessConn()
	return &frozenConn{c, f.gate}, err
}

type frozenConn struct {
	net.Conn
	gate *sync.RWMutex
}

func (c *frozenConn) Write(data []byte) (int, error) {
	c.gate.RLock()
	defer c.gate.RUnlock()
	return c.Conn.Write(data)
}

// Read hands on what it has read when the gate is open.
func (c *frozenConn) Read(data []byte) (int, error) {
	n, err := c.Conn.Read(data)
	c.gate.RLock()
	defer c.gate.RUnlock()
	return n, err
}

// URL is where the server listens.
func (s *Server) URL() string { return s.now.Load().URL() }
