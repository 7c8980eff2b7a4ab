//go:build unix

package cluster_test

import (
	"io"
	"math/rand/v2"
	"net"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// A proxy is the network between a client and a server. It may cut connections, with what is on its way, and be frozen:
// then nothing passes, and connections stay. Any thread.
type proxy struct {
	to       string
	listener net.Listener
	gate     sync.RWMutex // what passes holds it for reading

	mu    sync.Mutex
	pairs map[*pair]struct{}
}

// A pair is a connection from a client, and the one to the server.
type pair struct{ from, to net.Conn }

func (p *pair) cut() {
	for _, c := range []net.Conn{p.from, p.to} {
		if tcp, ok := c.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0) // what is not sent yet is dropped
		}
		c.Close()
	}
}

func newProxy(t testing.TB, to string) *proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	p := &proxy{to: to, listener: l, pairs: map[*pair]struct{}{}}
	go p.accept()
	t.Cleanup(func() { l.Close(); p.cut(1) })
	return p
}

func (p *proxy) url() string { return "nats://" + p.listener.Addr().String() }

func (p *proxy) accept() {
	for {
		from, err := p.listener.Accept()
		if err != nil {
			return // it is closed
		}
		to, err := net.Dial("tcp", p.to)
		if err != nil {
			from.Close()
			continue
		}
		c := &pair{from, to}
		p.mu.Lock()
		p.pairs[c] = struct{}{}
		p.mu.Unlock()
		go p.pass(c, from, to)
		go p.pass(c, to, from)
	}
}

// pass passes what comes on.
func (p *proxy) pass(c *pair, from, to net.Conn) {
	_, _ = io.Copy(gated{to, &p.gate}, from) // it ends with either connection
	c.cut()
	p.mu.Lock()
	delete(p.pairs, c)
	p.mu.Unlock()
}

// gated is a connection that writes when the gate is open.
type gated struct {
	net.Conn
	gate *sync.RWMutex
}

func (g gated) Write(data []byte) (int, error) {
	g.gate.RLock()
	g.gate.RUnlock() //nolint:staticcheck // the gate was open a moment ago: what is under way may pass
	return g.Conn.Write(data)
}

// cut cuts connections, each with that likelihood.
func (p *proxy) cut(likely float64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.pairs {
		if rand.Float64() < likely {
			c.cut()
		}
	}
}

// freeze freezes the network, or thaws it.
func (p *proxy) freeze(on bool) {
	if on {
		p.gate.Lock()
	} else {
		p.gate.Unlock()
	}
}
